/** The outcome of one spec. */
export interface SpecResult {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
  /** Why it failed or was skipped, in one line; empty if it passed. */
  readonly reason: string;
}

/** The parts of Ginkgo's JSON report that are read (`types.Report` and `types.SpecReport`). */
interface SuiteReport {
  readonly SpecReports: readonly SpecReport[] | null;
}

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  /** `It` for a spec; otherwise a node of the suite, such as `BeforeSuite`. */
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly State: string;
  /** Nanoseconds. */
  readonly RunTime: number;
  readonly Failure?: {
    readonly Message?: string;
    readonly ForwardedPanic?: string;
    readonly Location?: { readonly FileName?: string; readonly LineNumber?: number };
  };
}

const longestReason = 240;
/** The end of a message that consists of a whole object. */
const dump = /,? got instead: <\*.*$/i;

/** Returns the full names of the specs that a dry run selected, sorted. */
export function selectedSpecs(report: string): string[] {
  return nodesOf(report)
    .filter(({ LeafNodeType, State }) => LeafNodeType === 'It' && State === 'passed')
    .map(nameOf)
    .sort();
}

/** Returns the result of a spec from the report of a run that selected it alone. A spec that the report does not show has failed. */
export function specResult(report: string, name: string): SpecResult {
  const nodes = nodesOf(report);
  const spec = nodes.find((node) => node.LeafNodeType === 'It' && nameOf(node) === name);
  const setup = nodes.find(({ LeafNodeType, State }) => LeafNodeType !== 'It' && hasFailed(State));
  const seconds = (spec?.RunTime ?? 0) / 1e9;
  if (spec === undefined) return { name, state: 'failed', seconds, reason: 'the report does not contain it' };
  if (setup !== undefined)
    return { name, state: 'failed', seconds, reason: `${setup.LeafNodeType}: ${reasonOf(setup)}` };
  if (spec.State === 'passed') return { name, state: 'passed', seconds, reason: '' };
  // Filtered specs are skipped without a message, as are those that the suite did not reach.
  const state = hasFailed(spec.State) || spec.Failure?.Message === undefined ? 'failed' : 'skipped';
  return { name, state, seconds, reason: reasonOf(spec) };
}

/** Returns the names of specs that pass in `expected` and do not in `actual`. */
export function regressions(expected: readonly SpecResult[], actual: readonly SpecResult[]): string[] {
  const passed = (results: readonly SpecResult[]): string[] =>
    results.filter(({ state }) => state === 'passed').map(({ name }) => name);
  const passes = new Set(passed(actual));
  return passed(expected).filter((name) => !passes.has(name));
}

function nodesOf(report: string): SpecReport[] {
  return (JSON.parse(report) as SuiteReport[]).flatMap(({ SpecReports }) => SpecReports ?? []);
}

function nameOf({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string {
  return [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(' ');
}

function hasFailed(state: string): boolean {
  return !['passed', 'skipped', 'pending'].includes(state);
}

function reasonOf({ State, Failure }: SpecReport): string {
  const text = [Failure?.Message, Failure?.ForwardedPanic].filter((part) => part !== undefined).join(': ');
  const line = text.replaceAll(/\s+/g, ' ').replace(dump, '').trim();
  const short = line.length > longestReason ? `${line.slice(0, longestReason)}…` : line;
  const { FileName, LineNumber } = Failure?.Location ?? {};
  const where = FileName === undefined ? '' : ` (${FileName.split('/').at(-1)}:${LineNumber ?? 0})`;
  return `${short === '' ? State : short}${where}`;
}
