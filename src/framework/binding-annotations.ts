import type { CycleState } from './cycle-state.ts';

const key = 'Binding/annotations';

/** The annotations that go with the pod's Binding: the API server merges them into the pod in the same write. */
export function bindingAnnotations(state: CycleState): Readonly<Record<string, string>> {
  return state.read<Readonly<Record<string, string>>>(key) ?? {};
}

export function setBindingAnnotations(state: CycleState, annotations: Readonly<Record<string, string>>): void {
  state.write(key, annotations);
}
