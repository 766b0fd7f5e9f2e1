import type { ResourceType } from '../kinds/resource-type.ts';

export const jsonPatch = 'application/json-patch+json';
export const mergePatch = 'application/merge-patch+json';
export const strategicMergePatch = 'application/strategic-merge-patch+json';
/** Server-side apply, which this API server does not serve. */
export const applyPatch = 'application/apply-patch+yaml';

/** Returns the media types that PATCH accepts for a resource. */
export function patchMediaTypes(type: ResourceType): readonly string[] {
  const own = type.content.type === 'model' ? [strategicMergePatch] : [];
  return [jsonPatch, mergePatch, ...own];
}
