import type { CallClass, CallFault, Fault, Scenario, WatchFault, WatchedResource } from '../scenario.ts';
import { nameOf } from '../scenario.ts';
import { share } from './mix.ts';
import type { Role } from './process.ts';

export interface Struck<Kind> {
  readonly kind: Kind;
  readonly ms: number;
}

export interface FaultPlaces {
  /** role/class, or role/any -> number of calls */
  readonly calls: ReadonlyMap<string, number>;
  /** role/resource/lines or role/resource/openings -> count */
  readonly watches: ReadonlyMap<string, number>;
}

/** The process that owns the watch. */
interface Watcher {
  readonly role: Role;
  readonly name: string;
}

/** Decides which fault strikes a call or a line of a watch, and counts the strikes. */
export class Faults {
  readonly #seed: number;
  readonly #calmFrom: number;
  readonly #faults: readonly Fault[];
  /** role/class -> calls so far; role/any as well */
  readonly #calls = new Map<string, number>();
  /** role/resource/lines or role/resource/openings -> count so far */
  readonly #watches = new Map<string, number>();
  /** Faults with a start time that have already struck. */
  readonly #once = new Set<Fault>();
  /** name -> how often it has struck */
  readonly struck = new Map<string, number>();
  /** When the latest strike is over: a pause or a delay lasts for its time. */
  lastAt = 0;

  constructor({ seed, faults }: Scenario, calmFrom: number) {
    this.#seed = seed;
    this.#calmFrom = calmFrom;
    this.#faults = faults;
  }

  /** Returns the calls, watch lines and watch openings so far; a fault can be put on each. */
  get places(): FaultPlaces {
    return { calls: new Map(this.#calls), watches: new Map(this.#watches) };
  }

  /** Returns the fault that strikes the call. `pod`: name of the pod that the call is about. */
  ofCall(role: Role, of: CallClass, pod: string | undefined, now: number): Struck<CallFault> | undefined {
    const nth = count(this.#calls, `${role}/${of}`);
    const nthOfPod = pod === undefined ? -1 : count(this.#calls, `${role}/${of}/${pod}`);
    const isAny = of !== 'lease';
    const anyNth = isAny ? count(this.#calls, `${role}/any`) : -1;
    for (const fault of this.#faults) {
      if (fault.on === 'watch' || fault.role !== role) continue;
      if (fault.on === 'outage') {
        if (now < fault.from || now >= fault.to) continue;
        if (share(this.#seed, 11, role.length, nth, of.length, fault.from) < fault.share) {
          return this.#strikes(fault, { kind: fault.kind, ms: 1_000 }, now);
        }
        continue;
      }
      if (fault.pod !== undefined && fault.pod !== pod) continue;
      const place = fault.of === 'any' ? anyNth : fault.pod === undefined ? nth : nthOfPod;
      const isThis = (fault.of === of || fault.of === 'any') && fault.nth === place;
      if (isThis && now <= this.#calmFrom) return this.#strikes(fault, { kind: fault.kind, ms: fault.ms }, now);
    }
    return undefined;
  }

  ofLine({ role, name }: Watcher, resource: WatchedResource, now: number): Struck<WatchFault> | undefined {
    return this.#ofWatch(role, name, resource, 'lines', now, (kind) => !kind.startsWith('reject-open'));
  }

  ofOpening({ role, name }: Watcher, resource: WatchedResource, now: number): Struck<WatchFault> | undefined {
    return this.#ofWatch(role, name, resource, 'openings', now, (kind) => kind.startsWith('reject-open'));
  }

  note(name: string): void {
    count(this.struck, name);
  }

  #ofWatch(
    role: Role,
    process: string,
    resource: WatchedResource,
    what: 'lines' | 'openings',
    now: number,
    matches: (kind: WatchFault) => boolean,
  ): Struck<WatchFault> | undefined {
    const nth = count(this.#watches, `${role}/${resource}/${what}`);
    const nthOfProcess = count(this.#watches, `${process}/${resource}/${what}`);
    for (const fault of this.#faults) {
      if (fault.on !== 'watch' || fault.role !== role || fault.resource !== resource) continue;
      if (fault.process !== undefined && fault.process !== process) continue;
      const place = fault.process === undefined ? nth : nthOfProcess;
      if (!matches(fault.kind) || now > this.#calmFrom) continue;
      if (fault.notBefore === undefined ? fault.nth !== place : !this.#isFirstFrom(fault, fault.notBefore, now))
        continue;
      return this.#strikes(fault, { kind: fault.kind, ms: fault.ms }, now);
    }
    return undefined;
  }

  #isFirstFrom(fault: Fault, notBefore: number, now: number): boolean {
    if (now < notBefore || this.#once.has(fault)) return false;
    this.#once.add(fault);
    return true;
  }

  #strikes<Kind>(fault: Fault, struck: Struck<Kind>, now: number): Struck<Kind> {
    this.note(nameOf(fault));
    this.lastAt = Math.max(this.lastAt, now + struck.ms);
    return struck;
  }
}

/** Returns the count before this call and increments it. */
function count(counts: Map<string, number>, key: string): number {
  const before = counts.get(key) ?? 0;
  counts.set(key, before + 1);
  return before;
}
