import type { Call } from '../world/call.ts';
import type { Checker, Evidence } from './evidence.ts';
import { groupNamed, podsIn } from './plain-group.ts';
import { isOpen } from './plain-objects.ts';
import type { PlainPod } from './plain-objects.ts';

/** Bindings of one pod within `windowMs`. A Binding whose fate is not known is sent up to 16 times with back-off, and so is the next plan's. */
const mostBindings = 24;
const windowMs = 10_000;

/**
 * I9: no pod is bound again and again without back-off. And where nothing has happened for long nothing does: no Binding, no eviction, and of each
 * pod and group at most one message, for which the queue's flush may have found new words.
 */
export class BoundedWorkChecker implements Checker {
  readonly #evidence: Evidence;
  /** path of the Binding -> when it was sent, of late */
  readonly #bindings = new Map<string, number[]>();
  #isQuiet = false;
  /** a write in a quiet time -> how often it was sent, since it last came too late */
  readonly #writes = new Map<string, number>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  sent(call: Call): void {
    const { of, request } = call;
    if (of === 'bind') this.#bound(request.path);
    if (!this.#isQuiet || of === 'lease' || of === 'event' || request.method === 'GET') return;
    const what = writeOf(call);
    const count = (this.#writes.get(what) ?? 0) + 1;
    this.#writes.set(what, count);
    if ((of === 'verdict' || of === 'status') && count === 1) return;
    // Whoever writes the status of groups notes which of their versions it has seen.
    this.#evidence.violated('I9', `${what}, although nothing has happened for long`);
  }

  /** Somebody wrote what scheduling does not read while the message was under way: it is sent again. */
  done(call: Call): void {
    if (call.status === 409) this.#writes.delete(writeOf(call));
  }

  quiet(): void {
    this.#isQuiet = true;
  }

  ended(attempts: number): void {
    const { record, started } = this.#evidence;
    const open = podsIn(record).filter((pod) => isOpen(pod));
    // Members are tried together, or each on its own once the group has its quorum.
    const isOneOfMany = ({ group }: PlainPod): boolean => {
      const known = group === undefined ? undefined : groupNamed(record, group);
      return known !== undefined && !started.has(known.uid);
    };
    const entities = new Set(open.map((pod) => (isOneOfMany(pod) ? pod.group : pod.key))).size;
    // Each may be flushed once.
    if (attempts <= 1 + entities) return;
    const what = `${attempts} attempts for ${entities} that wait`;
    this.#evidence.violated('I9', `${what}, although nothing has happened that concerns them`);
  }

  #bound(path: string): void {
    const now = this.#evidence.now();
    const times = (this.#bindings.get(path) ?? []).filter((at) => at > now - windowMs);
    times.push(now);
    this.#bindings.set(path, times);
    if (times.length === mostBindings + 1) {
      this.#evidence.violated('I9', `${times.length} Bindings of one pod within ${windowMs / 1000} s: ${path}`);
    }
  }
}

function writeOf({ process, request }: Call): string {
  return `${process.name} ${request.method} ${request.path}`;
}
