/** The data of a test that the table of cases needs. */
export interface CollectedTest {
  /** The name of the test itself, without its describe blocks. */
  readonly name: string;
  /** Relative to the repository, with forward slashes. */
  readonly file: string;
  /** False for a test that is skipped or expected to fail: `skip`, `todo`, `fails`, or excluded by another's `only`. */
  readonly runs: boolean;
}

const caseId = /^(?:CI|NA|[QFRPCOtDXL])\d+(?=\s|:|$)/;
const atStartOfString = /['"`](?:CI|NA|[QFRPCOtDXL])\d+[\s:'"`]/;

/** Returns the id of the case that a test covers, if the test name begins with one. */
export function caseOf(testName: string): string | undefined {
  return caseId.exec(testName)?.[0];
}

/** Reports whether the source contains a string that begins with the id of a case; does not find names composed of parts. */
export function maybeNamesCase(source: string): boolean {
  return atStartOfString.test(source);
}

/** Returns a sentence for each difference between the table (case id -> file) and the tests. */
export function caseProblems(table: Readonly<Record<string, string>>, tests: readonly CollectedTest[]): string[] {
  const problems: string[] = [];
  // case id -> tests whose name begins with it
  const testsOf = new Map<string, CollectedTest[]>();
  for (const test of tests) {
    const id = caseOf(test.name);
    if (id === undefined) continue;
    if (!Object.hasOwn(table, id)) {
      problems.push(`${id}: the test '${test.name}' in ${test.file} names a case that the table does not have`);
      continue;
    }
    const others = testsOf.get(id);
    if (others === undefined) testsOf.set(id, [test]);
    else others.push(test);
  }
  for (const [id, file] of Object.entries(table)) {
    const found = testsOf.get(id) ?? [];
    if (found.length === 0) problems.push(`${id}: no test in ${file} has a name that begins with it`);
    if (found.length > 1)
      problems.push(`${id}: ${found.length} tests (${found.map((test) => test.file).join(', ')}), not one`);
    for (const test of found) {
      if (test.file !== file) problems.push(`${id}: its test is in ${test.file}, the table says ${file}`);
      if (!test.runs) problems.push(`${id}: its test in ${test.file} does not run, or is expected to fail`);
    }
  }
  return problems;
}
