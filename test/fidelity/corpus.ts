import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { nodeObject, podObject } from './arbitraries.ts';
import type { Answer, ApiObject, Question } from './question.ts';

/** A question with kube-scheduler's answer, as it was when it was recorded. */
export interface Recorded {
  readonly question: Question;
  readonly answer: Answer;
}

const folder = new URL('corpus/', import.meta.url);
/** Of one plugin's file, so that all of them together stay small. */
const mostBytes = 24_000;
/** As `mostBytes`, of plugins whose questions hold objects of many kinds. */
const mostBytesOfMany = 90_000;
/** So many objects beside nodes and pods are many. */
const many = 8;

function fileOf(plugin: string): URL {
  return new URL(`${plugin}.jsonl`, folder);
}

/** What is recorded for the plugin; empty when nothing is. */
export async function recordedFor(plugin: string): Promise<readonly Recorded[]> {
  if (!existsSync(fileOf(plugin))) return [];
  const lines = (await readFile(fileOf(plugin), 'utf8')).trim().split('\n');
  return lines.map((line) => {
    const { question, answer } = JSON.parse(line) as Recorded;
    return { question: inQuestion(question, completed), answer };
  });
}

/** Nodes and pods are recorded without what they all have. */
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

/** What an object of that name is if nothing is said of it. */
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

/** Keeps the smallest of each kind of answer, as many kinds as there is room for. */
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
  let capacity = hasMany ? mostBytesOfMany : mostBytes;
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

/** Which rejections there are, and how many different scores. */
function kindOf({ preEnqueue, order, preFilter, nodeNames, filter = {}, preScore, scores = {} }: Answer): string {
  const rejections = new Set(Object.values(filter).map((said) => JSON.stringify(said)));
  const different = new Set(Object.values(scores)).size;
  return JSON.stringify([preEnqueue, order, preFilter, nodeNames?.length, [...rejections].sort(), preScore, different]);
}
