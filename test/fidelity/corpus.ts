import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { Answer, Question } from './question.ts';

/** A question with kube-scheduler's answer, as it was when it was recorded. */
export interface Recorded {
  readonly question: Question;
  readonly answer: Answer;
}

const folder = new URL('corpus/', import.meta.url);
/** Of one plugin's file, so that all of them together stay small. */
const mostBytes = 24_000;

function fileOf(plugin: string): URL {
  return new URL(`${plugin}.jsonl`, folder);
}

/** What is recorded for the plugin; empty when nothing is. */
export async function recordedFor(plugin: string): Promise<readonly Recorded[]> {
  if (!existsSync(fileOf(plugin))) return [];
  const lines = (await readFile(fileOf(plugin), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Recorded);
}

/** Keeps the smallest of each kind of answer, as many kinds as there is room for. */
export async function record(plugin: string, all: readonly Recorded[]): Promise<number> {
  const kinds = Map.groupBy(
    all.map((recorded) => ({ kind: kindOf(recorded.answer), line: JSON.stringify(recorded) })),
    ({ kind }) => kind,
  );
  const ranked = [...kinds.values()].map((lines) => lines.map(({ line }) => line).sort((a, b) => a.length - b.length));
  const kept: string[] = [];
  let room = mostBytes;
  for (let rank = 0; ranked.some((lines) => rank < lines.length); rank++) {
    for (const lines of ranked) {
      const line = lines[rank];
      if (line === undefined || line.length >= room) continue;
      kept.push(line);
      room -= line.length + 1;
    }
  }
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(plugin), `${kept.join('\n')}\n`);
  return kept.length;
}

/** Which refusals there are, and how many different scores. */
function kindOf({ preEnqueue, order, preFilter, nodeNames, filter = {}, preScore, scores = {} }: Answer): string {
  const refusals = new Set(Object.values(filter).map((said) => JSON.stringify(said)));
  const different = new Set(Object.values(scores)).size;
  return JSON.stringify([preEnqueue, order, preFilter, nodeNames?.length, [...refusals].sort(), preScore, different]);
}
