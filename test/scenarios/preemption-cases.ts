/** A row of the table in docs/preemption-cases.md. */
export interface PreemptionCase {
  readonly id: string;
  /** What happens, as in the title of the scenario. */
  readonly what: string;
  /** A scenario plays it on the embedded plane and on the real one. */
  readonly isScenario: boolean;
  /** Files with further tests of it. */
  readonly files: readonly string[];
}

/** A test whose name begins with the id of a case. */
export interface NamedTest {
  readonly name: string;
  /** Relative to the repository. */
  readonly file: string;
}

/** The file that plays the scenarios on the real plane. */
export const realPlaneFile = 'test/scenarios/real-plane.test.ts';

/** The files that play the scenarios. */
export const scenarioFiles = ['test/scenarios/preemption.test.ts', realPlaneFile] as const;

const row = /^\| (PE\d+) \| (.+?) \| (both planes|—) \| (.+?) \|$/;

/** Returns the id with which the name of a test begins; undefined: it has none. */
function preemptionCaseOf(testName: string): string | undefined {
  return /^PE\d+(?= - )/.exec(testName)?.[0];
}

/** Returns the names of tests in a source that begin like the id of a case. Does not find names that are composed of parts. */
export function namesInSource(source: string): string[] {
  return [...source.matchAll(/['"`](PE\d+[ :,][^'"`]*)/g)].map(([, name]) => name!);
}

/** Returns the rows of the table. */
export function readPreemptionCases(page: string): PreemptionCase[] {
  return page.split('\n').flatMap((line) => {
    const [, id, what, planes, others] = row.exec(line) ?? [];
    if (id === undefined) return [];
    const files = [...others!.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file]) => file!);
    return [{ id, what: what!, isScenario: planes === 'both planes', files }];
  });
}

/** Returns a sentence for each difference between the table and the tests. */
export function preemptionCaseProblems(cases: readonly PreemptionCase[], tests: readonly NamedTest[]): string[] {
  const problems: string[] = [];
  /** id -> files with tests of it */
  const filesOf = new Map<string, Set<string>>(cases.map(({ id }) => [id, new Set()]));
  for (const { name, file } of tests) {
    const id = preemptionCaseOf(name);
    if (id === undefined) {
      if (/^PE\d/.test(name)) problems.push(`'${name}' in ${file} must have ' - ' after the id`);
      continue;
    }
    const files = filesOf.get(id);
    if (files === undefined)
      problems.push(`${id}: the test '${name}' in ${file} names a case that the table does not have`);
    else files.add(file);
  }
  for (const { id, isScenario, files } of cases) {
    const expected = new Set([...(isScenario ? scenarioFiles : []), ...files]);
    const found = filesOf.get(id)!;
    if (expected.size === 0) problems.push(`${id}: the table names no test`);
    for (const file of expected)
      if (!found.has(file)) problems.push(`${id}: no test in ${file} has a name that begins with it`);
    for (const file of found)
      if (!expected.has(file)) problems.push(`${id}: the table does not name its test in ${file}`);
  }
  return problems;
}
