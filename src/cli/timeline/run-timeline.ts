import { explainApiVersion } from '../../api/explain/basis.ts';
import type { ClientTimeline } from '../../api/timeline/client-timeline.ts';
import type { TimelineItem, TimelineList } from '../../api/timeline/timeline-answer.ts';
import type { Trace } from '../../api/timeline/trace.ts';
import { safeCopy } from '../../base/safe-copy.ts';
import { UserError } from '../../base/user-error.ts';
import type { ConnectionFlags, NamespaceFlags, PrintFlags, SchedulerLookupFlags } from '../cluster-flags.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodes } from '../exit-codes.ts';
import type { LeaderFlags } from '../explain/leader/leader-flags.ts';
import { subjectName } from '../explain/subject-argument.ts';
import type { SubjectArgument } from '../explain/subject-argument.ts';
import { withCluster } from '../explain/with-cluster.ts';
import { printList, printNote } from '../output/print.ts';
import { httpEndpoints } from '../ui/http-endpoints.ts';
import { leaderEndpointsOf } from '../ui/leader-endpoints-of.ts';
import { followTimeline } from './follow-timeline.ts';
import { readTimeline } from './read-timeline.ts';
import { isSelected, missingFrom } from './selection.ts';
import type { Selection } from './selection.ts';
import { subjectOfKey } from './subject-of-key.ts';
import { timelineColumns } from './timeline-columns.ts';
import { TimelineItems } from './timeline-items.ts';
import { traceOf } from './trace-of-timeline.ts';

/** The flags of `tutti timeline`. */
export interface TimelineFlags
  extends ConnectionFlags, NamespaceFlags, SchedulerLookupFlags, LeaderFlags, Omit<PrintFlags, 'output'> {
  readonly output: 'table' | 'wide' | 'json' | 'yaml' | 'trace';
  /** In milliseconds. Absent: all that is recorded. */
  readonly since?: number;
  readonly follow?: true;
  /** Of a scheduler that answers without a token. Absent: the scheduler that leads is looked up. */
  readonly schedulerUrl?: string;
}

/** The timeline has nothing of what the user has named. */
export class NotInTimelineError extends UserError {
  override readonly name = 'NotInTimelineError';

  constructor(names: readonly string[], namespace: string | undefined) {
    const where = namespace === undefined ? '' : ` in the namespace ${namespace}`;
    super(
      `the timeline has no pod group and no pod without a group named ${names.join(', ')}${where}. What happens to a member is recorded for its group`,
    );
  }
}

/**
 * Prints what the scheduler that leads has recorded. Resolves to 0. With `follow`, it then prints what happens until a signal ends the command, and
 * resolves to the exit code of the signal. Rejects with NotInTimelineError, unless it follows, and with the errors of LeaderEndpoints and readTimeline.
 */
export async function runTimeline(
  subjects: readonly SubjectArgument[],
  flags: TimelineFlags,
  context: CommandContext,
): Promise<number> {
  const { clock, interruption, stdout } = context;
  return withCluster(flags, context, async (cluster) => {
    const endpoints =
      flags.schedulerUrl === undefined ? leaderEndpointsOf(cluster, flags, context) : httpEndpoints(flags.schedulerUrl);
    const timeline = await readTimeline(endpoints, clock, interruption.signal);
    const selection: Selection = { namespace: cluster.namespace, subjects };
    const from = flags.since === undefined ? 0 : timeline.now - flags.since;
    const isWanted = (item: TimelineItem): boolean =>
      isSelected(item.subject, selection) && Date.parse(item.until ?? item.time) >= from;
    const { output, follow, ...print } = flags;
    const showsNamespace = cluster.namespace === undefined;
    if (follow === true && output !== 'trace') {
      await followTimeline({ endpoints, timeline, isWanted, showsNamespace, print: { ...print, output } }, context);
      return interruption.exitCode ?? exitCodes.failed;
    }
    const missing = missingFrom(
      [...timeline.entities.keys()].map((key) => subjectOfKey(timeline, key)),
      selection,
    );
    if (missing.length > 0) throw new NotInTimelineError(missing, cluster.namespace);
    if (!timeline.isLeading) printNote('The scheduler that answers does not lead, so it records nothing.', context);
    if (output === 'trace') {
      stdout.write(traceText(traceOf(timeline, { isWanted: (subject) => isSelected(subject, selection), from })));
      return exitCodes.ok;
    }
    const list = listOf(timeline, from, isWanted);
    if (list.gap) printNote(`The scheduler holds no events from before ${list.heldSince}.`, context);
    const columns = timelineColumns(showsNamespace);
    const footer = [
      `${list.items.length} ${list.items.length === 1 ? 'event' : 'events'}, recorded since ${list.heldSince}`,
    ];
    const name = ({ subject }: TimelineItem): string => subjectName(subject);
    printList({ object: list, columns, name, footer }, { ...print, output }, context);
    return exitCodes.ok;
  });
}

function listOf(timeline: ClientTimeline, from: number, isWanted: (item: TimelineItem) => boolean): TimelineList {
  const takenAt = new Date(timeline.now).toISOString();
  return {
    apiVersion: explainApiVersion,
    kind: 'TimelineList',
    basis: { source: 'scheduler', takenAt, ageSeconds: 0, unknowns: [] },
    heldSince: new Date(timeline.heldSince).toISOString(),
    gap: from > 0 && from < timeline.heldSince,
    items: new TimelineItems().take(timeline).filter(isWanted),
  };
}

/** Returns the trace as JSON with a line for each event. */
function traceText({ traceEvents, ...rest }: Trace): string {
  const lines = traceEvents.map((event) => JSON.stringify(safeCopy(event)));
  return `${JSON.stringify(rest).slice(0, -1)},"traceEvents":[\n${lines.join(',\n')}\n]}\n`;
}
