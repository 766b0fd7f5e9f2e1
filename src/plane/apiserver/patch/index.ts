export { applyJsonPatch } from './apply-json-patch.ts';
export { applyMergePatch } from './apply-merge-patch.ts';
export { applyStrategicMergePatch } from './apply-strategic-merge-patch.ts';
export { PatchError } from './patch-error.ts';
export type { PatchErrorKind } from './patch-error.ts';
