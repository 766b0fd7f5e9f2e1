import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestPlane } from '../../planes/plane.ts';
import type { ServerCases } from './cases.ts';
import type { Exchange } from './exchange.ts';
import { playCase } from './play.ts';

/** The responses of a real server to one group of cases. */
export interface GoldenAnswers {
  /** Its gitVersion. */
  readonly version: string;
  /** case -> its exchanges */
  readonly cases: Readonly<Record<string, readonly Exchange[]>>;
}

const folder = join(import.meta.dirname, 'golden');

export async function readGolden(group: string): Promise<GoldenAnswers> {
  return JSON.parse(await readFile(join(folder, `${group}.json`), 'utf8')) as GoldenAnswers;
}

/** Runs the cases on the plane and writes the responses to the golden files. */
export async function recordGolden(plane: TestPlane, { groups }: ServerCases): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [group, cases] of Object.entries(groups)) {
    const recorded: Record<string, readonly Exchange[]> = {};
    for (const [index, [name, run]] of Object.entries(cases).entries()) {
      recorded[name] = await playCase(plane, caseNamespace(group, index), run);
    }
    const golden: GoldenAnswers = { version: plane.version, cases: recorded };
    await writeFile(join(folder, `${group}.json`), `${JSON.stringify(golden, undefined, 2)}\n`);
  }
}

/** Returns the namespace of a case: short, and different from all other text in its responses. */
export function caseNamespace(group: string, index: number): string {
  return `case-${group}-${index}`;
}
