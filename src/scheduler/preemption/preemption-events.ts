import type { Pod } from '../../api/pod.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { namespaceOf } from '../../framework/names-for-users.ts';
import type { EventSink } from '../ports.ts';
import { groupPreempted, ofPreemptor, preempted } from '../verdicts/events.ts';
import type { OngoingPreemption, PreemptionResult } from './ongoing-preemption.ts';
import { beneficiaryOf, timeOf, uidOf } from './preemption-texts.ts';
import type { VictimUnit } from './victim-unit.ts';

/** The Events of preemptions, on both sides. */
export class PreemptionEvents {
  readonly #cluster: Cluster;
  readonly #events: EventSink;
  /** groups whose Event was recorded */
  readonly #reported = new WeakSet<VictimUnit>();

  constructor(options: { readonly cluster: Cluster; readonly events: EventSink }) {
    this.#cluster = options.cluster;
    this.#events = options.events;
  }

  started({ schedulingEntity, plan, units, victimUids, recalledUids, deadline }: OngoingPreemption): void {
    const groups = units.filter(({ gangKey }) => gangKey !== undefined).length;
    const pods = counted(victimUids.size, 'pod');
    const ofGroups = groups === 0 ? '' : ` (${counted(groups, 'whole group')} among them)`;
    const waiting =
      recalledUids.length > 0 ? `recalling ${pods} before they are bound` : `waiting for ${pods} to terminate`;
    const what = units.length === 0 ? waiting : `evicting ${pods}${ofGroups}`;
    const members = counted(plan.nominations.length, schedulingEntity.kind === 'gang' ? 'member' : 'pod');
    const note = `${what} to place ${members}, until ${timeOf(deadline.now)} at the latest`;
    const reason = 'PreemptionStarted';
    this.#events.record(ofPreemptor(schedulingEntity, plan.owner, reason, note));
  }

  /** The pod will be deleted. */
  evicted({ schedulingEntity, plan }: OngoingPreemption, pod: Pod, unit: VictimUnit): void {
    const isGang = schedulingEntity.kind === 'gang';
    const { key } = isGang ? schedulingEntity.gang : schedulingEntity.pod;
    const name = namespaceOf(schedulingEntity) === pod.namespace ? key : 'of another namespace';
    const of = unit.gangKey !== undefined ? 'whole group' : pod.podGroupKey === undefined ? 'pod' : 'surplus member';
    const by = `${isGang ? 'podgroup' : 'pod'} ${uidOf(schedulingEntity)}`;
    const note = `Preempted by ${by} on node ${pod.nodeName} (${name}, priority ${plan.priority}; ${of})`;
    this.#events.record(preempted(pod, note));
    if (unit.gangKey === undefined || this.#reported.has(unit)) return;
    this.#reported.add(unit);
    const gang = this.#cluster.gang(unit.gangKey);
    const nodes = new Set(unit.pods.map(({ nodeName }) => nodeName)).size;
    const whole = `Preempted by ${beneficiaryOf(schedulingEntity, plan.priority, pod.namespace)} on ${counted(nodes, 'node')}`;
    const ofGroup = gang && groupPreempted(gang, pod, whole);
    if (ofGroup !== undefined) this.#events.record(ofGroup);
  }

  ended({ schedulingEntity, plan }: OngoingPreemption, outcome: PreemptionResult, note: string): void {
    if (outcome !== 'expired' && outcome !== 'displaced') return;
    const reason = outcome === 'expired' ? 'PreemptionExpired' : 'PreemptionDisplaced';
    this.#events.record(ofPreemptor(schedulingEntity, plan.owner, reason, note));
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
