import type { Pod } from '../../api/pod.ts';
import type { ClusterEvent } from '../../framework/cluster-event.ts';
import { mayHelpOutside, outsiders } from '../../framework/event-hints.ts';
import type { EventHints } from '../../framework/event-hints.ts';
import type { EquivalenceClass } from './equivalence-class.ts';

/** Classes whose rejected pods one plugin signs alike, with one of these pods. */
interface SignedAlike {
  readonly pod: Pod;
  readonly classes: Set<EquivalenceClass>;
}

/** signature, or the class itself where the plugin signs nothing -> several where signatures have changed since they were filed */
type BySignature = Map<string | EquivalenceClass, SignedAlike[]>;

/** Where a class is filed. */
interface Place {
  readonly bySignature: BySignature;
  readonly key: string | EquivalenceClass;
  readonly entry: SignedAlike;
}

/** The classes of one profile. */
class ProfileIndex {
  /** plugin that rejected -> its classes by signature */
  readonly byPlugin = new Map<string, BySignature>();
  /** class -> where it is filed, for its plugins may sign its pods differently by now */
  readonly places = new Map<EquivalenceClass, readonly Place[]>();
  /** Those that any event may help. */
  readonly open = new Set<EquivalenceClass>();
  /** Those of gangs, where some plugin wants to be asked about all gangs. */
  readonly gangs = new Set<EquivalenceClass>();
}

/**
 * Finds the classes that an event may help. Classes are filed by the plugins that rejected them and by what these plugins sign, so that a
 * queueing hint runs once for each kind of pod, however many entities wait.
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
    const places: Place[] = [];
    for (const plugin of rejection.unschedulablePlugins) {
      const bySignature: BySignature =
        index.byPlugin.get(plugin) ?? new Map<string | EquivalenceClass, SignedAlike[]>();
      index.byPlugin.set(plugin, bySignature);
      for (const pod of rejection.rejectedPods) {
        const signature = hints.kindOf(plugin, pod);
        const key = signature ?? equivalenceClass;
        const known = bySignature.get(key) ?? [];
        if (known.length === 0) bySignature.set(key, known);
        // Pods that were once signed alike may differ now, when other pods' terms read other labels.
        let entry =
          signature === undefined ? undefined : known.find((of) => hints.kindOf(plugin, of.pod) === signature);
        if (entry === undefined) known.push((entry = { pod, classes: new Set() }));
        entry.classes.add(equivalenceClass);
        places.push({ bySignature, key, entry });
      }
    }
    index.places.set(equivalenceClass, places);
  }

  remove(equivalenceClass: EquivalenceClass): void {
    const index = this.#profileOf(equivalenceClass.hints);
    index.open.delete(equivalenceClass);
    index.gangs.delete(equivalenceClass);
    for (const { bySignature, key, entry } of index.places.get(equivalenceClass) ?? []) {
      entry.classes.delete(equivalenceClass);
      const known = bySignature.get(key);
      if (entry.classes.size > 0 || known === undefined) continue;
      const at = known.indexOf(entry);
      if (at >= 0) known.splice(at, 1);
      if (known.length === 0) bySignature.delete(key);
    }
    index.places.delete(equivalenceClass);
  }

  /** The classes that the event may help; sets `skipsBackoff` where a plugin that answered Pending waited for it. */
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
