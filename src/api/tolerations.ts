import type { Taint } from './node.ts';
import type { Toleration } from './pod.ts';

/** Returns whether a toleration matches the taint by key, value and effect. An absent key or effect matches all. */
export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  for (let i = 0; i < tolerations.length; i++) if (tolerates(tolerations[i]!, taint)) return true;
  return false;
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration;
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
  if (key !== undefined && key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === undefined || operator === '' || operator === 'Equal') && (value ?? '') === taint.value;
}
