import type { PartError } from '../../../api/explain/basis.ts';
import { CollectionLister } from '../../../compose/cluster-state/collection-lister.ts';
import type { CollectionListerOptions } from '../../../compose/cluster-state/collection-lister.ts';
import type { PlannedSpec } from './planned-object.ts';

const path = '/apis/scheduling.k8s.io/v1/priorityclasses';

interface RawPriorityClass {
  readonly metadata: { readonly name: string };
  readonly value: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

/** Sets the priority of objects that the API server has not admitted, from the PriorityClasses of the cluster. */
export class Priorities {
  readonly #isKnown: boolean;
  /** name -> class */
  readonly #classes: ReadonlyMap<string, RawPriorityClass>;

  private constructor(isKnown: boolean, classes: ReadonlyMap<string, RawPriorityClass>) {
    this.#isKnown = isKnown;
    this.#classes = classes;
  }

  /** Lists the classes. If the caller may not, adds that to the errors, and every object without a priority of its own has 0. */
  static async load(options: CollectionListerOptions, errors: PartError[]): Promise<Priorities> {
    const classes = new Map<string, RawPriorityClass>();
    const add = (raw: unknown): void => {
      const found = raw as RawPriorityClass;
      classes.set(found.metadata.name, found);
    };
    return new Priorities((await new CollectionLister(options, errors).fill(path, add)) === 'listed', classes);
  }

  /** Returns the spec with its priority. Throws an error that names the class if it does not exist. */
  resolve(spec: PlannedSpec): PlannedSpec {
    const { priorityClassName = '' } = spec;
    if (!this.#isKnown) return { ...spec, priority: spec.priority ?? 0 };
    const found =
      priorityClassName === ''
        ? [...this.#classes.values()].find(({ globalDefault }) => globalDefault === true)
        : this.#classes.get(priorityClassName);
    if (found === undefined && priorityClassName !== '')
      throw new Error(`there is no PriorityClass named ${priorityClassName}`);
    const preemptionPolicy = found?.preemptionPolicy;
    return { ...spec, priority: found?.value ?? 0, ...(preemptionPolicy !== undefined && { preemptionPolicy }) };
  }
}
