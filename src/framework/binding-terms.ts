import type { PodBinding } from './plugin-handle.ts';
import type { CycleState } from './cycle-state.ts';

const key = 'Binding/terms';

/** Options of the pod's Binding besides its node. */
export type BindingTerms = Pick<PodBinding, 'annotations' | 'mayBeSent'>;

const noTerms: BindingTerms = { annotations: {} };

export function bindingTerms(state: CycleState): BindingTerms {
  return state.read<BindingTerms>(key) ?? noTerms;
}

export function setBindingTerms(state: CycleState, terms: BindingTerms): void {
  state.write(key, terms);
}
