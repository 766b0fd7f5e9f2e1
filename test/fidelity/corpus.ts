import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { nodeObject, podObject } from './arbitraries.ts';
import type { Answer, ApiObject, Question } from './question.ts';

/** A question with the recorded answer of kube-scheduler. */
export interface Recorded {
  readonly question: Question;
  readonly answer: Answer;
}

const folder = new URL('corpus/', import.meta.url);
/** Limit for one plugin's file, so that the whole corpus stays small. */
const maxBytes = 24_000;
/** The same for plugins whose questions contain objects of many kinds. */
const maxBytesOfMany = 90_000;
/** Number of objects, in addition to nodes and pods, above which the larger limit applies. */
const many = 8;

function fileOf(plugin: string): URL {
  return new URL(`${plugin}.jsonl`, folder);
}

/** Returns the recordings of the plugin; may be empty. */
export async function recordedFor(plugin: string): Promise<readonly Recorded[]> {
  if (!existsSync(fileOf(plugin))) return [];
  const lines = (await readFile(fileOf(plugin), 'utf8')).trim().split('\n');
  return lines.map((line) => {
    const { question, answer } = JSON.parse(line) as Recorded;
    return { question: inQuestion(question, completed), answer };
  });
}

/** Transforms the nodes and pods of a question: they are recorded without their common fields. */
function inQuestion(question: Question, change: (object: ApiObject, usual: Usual) => ApiObject): Question {
  const { nodes, pods, pod, added, rival } = question;
  return {
    ...question,
    nodes: nodes.map((each) => change(each, nodeObject)),
    pods: pods.map((each) => change(each, podObject)),
    pod: change(pod, podObject),
    ...(added !== undefined && { added: added.map((each) => change(each, podObject)) }),
    ...(rival !== undefined && { rival: change(rival, podObject) }),
  };
}

/** Returns the default object of that name. */
type Usual = (name: string) => ApiObject;

const parts = ['metadata', 'spec', 'status'] as const;

function shortened(object: ApiObject, usual: Usual): ApiObject {
  const base = usual(nameOf(object));
  const entries = parts.flatMap((part) => {
    const own = Object.entries((object[part] ?? {}) as ApiObject);
    const common = (base[part] ?? {}) as ApiObject;
    const left = own.filter(([field, value]) => field === 'name' || !isDeepStrictEqual(value, common[field]));
    return left.length === 0 ? [] : [[part, Object.fromEntries(left)] as const];
  });
  return Object.fromEntries(entries);
}

function completed(object: ApiObject, usual: Usual): ApiObject {
  const base = usual(nameOf(object));
  const entries = parts.map(
    (part) => [part, { ...(base[part] as ApiObject), ...(object[part] as ApiObject) }] as const,
  );
  return { ...base, ...Object.fromEntries(entries) };
}

function nameOf({ metadata }: ApiObject): string {
  return (metadata as { readonly name: string }).name;
}

/** Keeps the smallest recording of each kind of answer, up to the size limit. */
export async function record(plugin: string, all: readonly Recorded[]): Promise<number> {
  const kinds = Map.groupBy(
    all.map(({ question, answer }) => ({
      kind: kindOf(answer),
      line: JSON.stringify({ question: inQuestion(question, shortened), answer }),
    })),
    ({ kind }) => kind,
  );
  const shortestFirst = (a: string, b: string): number => a.length - b.length;
  const ranked = [...kinds.values()]
    .map((lines) => lines.map(({ line }) => line).sort(shortestFirst))
    .sort(([a], [b]) => shortestFirst(a!, b!));
  const kept: string[] = [];
  const hasMany = all.some(({ question }) => (question.objects?.length ?? 0) > many);
  let capacity = hasMany ? maxBytesOfMany : maxBytes;
  for (let rank = 0; ranked.some((lines) => rank < lines.length); rank++) {
    for (const lines of ranked) {
      const line = lines[rank];
      if (line === undefined || line.length >= capacity) continue;
      kept.push(line);
      capacity -= line.length + 1;
    }
  }
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(plugin), `${kept.join('\n')}\n`);
  return kept.length;
}

/** Returns the kind of an answer: its rejections and the number of different scores. */
function kindOf({ preEnqueue, order, preFilter, nodeNames, filter = {}, preScore, scores = {} }: Answer): string {
  const rejections = new Set(Object.values(filter).map((status) => JSON.stringify(status)));
  const different = new Set(Object.values(scores)).size;
  return JSON.stringify([preEnqueue, order, preFilter, nodeNames?.length, [...rejections].sort(), preScore, different]);
}
