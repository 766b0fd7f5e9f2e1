import type { Pod } from '../../api/pod.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import { mayHelpOutside, outsiders } from '../../framework/event-hints.ts';
import type { EventHints } from '../../framework/event-hints.ts';
import type { EquivalenceClass } from './equivalence-class.ts';

/** Classes whose rejected pods have the same signature for one plugin, with one of these pods. */
interface EqualPods {
  readonly pod: Pod;
  readonly classes: Set<EquivalenceClass>;
}

/** signature, or the class itself if the plugin signs nothing -> entries; several if signatures have changed since */
type BySignature = Map<string | EquivalenceClass, EqualPods[]>;

/** Position of a class in the index. */
interface Position {
  readonly bySignature: BySignature;
  readonly key: string | EquivalenceClass;
  readonly entry: EqualPods;
}

/** The classes of one profile. */
class ProfileIndex {
  /** plugin that rejected -> its classes by signature */
  readonly byPlugin = new Map<string, BySignature>();
  /** class -> its positions, because its plugins may sign its pods differently by now */
  readonly positions = new Map<EquivalenceClass, readonly Position[]>();
  /** Classes that any event may help. */
  readonly open = new Set<EquivalenceClass>();
  /** Classes of gangs, if a plugin's hints run for all gangs. */
  readonly gangs = new Set<EquivalenceClass>();
}

/**
 * Finds the classes that an event may help. Indexes classes by the plugins that rejected them and by these plugins' signatures, so that a
 * queueing hint runs once per pod class, however many entities wait.
 */
export class RejectionIndex {
  /** hints of a profile -> its classes */
  readonly #profiles = new Map<EventHints, ProfileIndex>();

  add(equivalenceClass: EquivalenceClass): void {
    const { hints, rejection } = equivalenceClass;
    const index = this.#profileOf(hints);
    if (rejection.unschedulablePlugins.size === 0 || rejection.unschedulablePlugins.has(outsiders)) {
      index.open.add(equivalenceClass);
      return;
    }
    if (rejection.isGang && hints.concernsGangs) index.gangs.add(equivalenceClass);
    const positions: Position[] = [];
    for (const plugin of rejection.unschedulablePlugins) {
      const bySignature: BySignature = index.byPlugin.get(plugin) ?? new Map<string | EquivalenceClass, EqualPods[]>();
      index.byPlugin.set(plugin, bySignature);
      for (const pod of rejection.rejectedPods) {
        const signature = hints.kindOf(plugin, pod);
        const key = signature ?? equivalenceClass;
        const known = bySignature.get(key) ?? [];
        if (known.length === 0) bySignature.set(key, known);
        // Pods with once equal signatures may differ now, if other pods' terms read other labels.
        let entry =
          signature === undefined ? undefined : known.find((of) => hints.kindOf(plugin, of.pod) === signature);
        if (entry === undefined) known.push((entry = { pod, classes: new Set() }));
        entry.classes.add(equivalenceClass);
        positions.push({ bySignature, key, entry });
      }
    }
    index.positions.set(equivalenceClass, positions);
  }

  remove(equivalenceClass: EquivalenceClass): void {
    const index = this.#profileOf(equivalenceClass.hints);
    index.open.delete(equivalenceClass);
    index.gangs.delete(equivalenceClass);
    for (const { bySignature, key, entry } of index.positions.get(equivalenceClass) ?? []) {
      entry.classes.delete(equivalenceClass);
      const known = bySignature.get(key);
      if (entry.classes.size > 0 || known === undefined) continue;
      const at = known.indexOf(entry);
      if (at >= 0) known.splice(at, 1);
      if (known.length === 0) bySignature.delete(key);
    }
    index.positions.delete(equivalenceClass);
  }

  /** Returns the classes that the event may help. Sets `skipsBackoff` if a plugin that returned Pending waited for the event. */
  helpedBy(event: ClusterEvent): Set<EquivalenceClass> {
    const helped = new Set<EquivalenceClass>();
    for (const [hints, { byPlugin, open, gangs }] of this.#profiles) {
      for (const each of open) {
        if (!each.rejection.unschedulablePlugins.has(outsiders) || mayHelpOutside(event)) helped.add(each);
      }
      for (const registered of hints.registered(event)) {
        for (const entries of byPlugin.get(registered.plugin)?.values() ?? []) {
          for (const { pod, classes } of entries) {
            if (!hints.helps(registered, pod, event)) continue;
            for (const each of classes) {
              helped.add(each);
              each.skipsBackoff ||= each.rejection.pending.has(registered.plugin);
            }
          }
        }
        if (!registered.concernsGangs) continue;
        for (const each of gangs) {
          if (each.rejection.rejectedPods.some((pod) => hints.helps(registered, pod, event))) helped.add(each);
        }
      }
    }
    return helped;
  }

  #profileOf(hints: EventHints): ProfileIndex {
    const index = this.#profiles.get(hints) ?? new ProfileIndex();
    this.#profiles.set(hints, index);
    return index;
  }
}
