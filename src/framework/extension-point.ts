import type { Plugin } from './plugin.ts';

/** The extension points by their names in the configuration, in the order in which a pod passes them. */
export const extensionPoints = [
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const;

export type ExtensionPoint = (typeof extensionPoints)[number];

/** Returns whether the plugin implements the point. Reserve and Unreserve are one point. */
export function implementsPoint(plugin: Plugin, point: ExtensionPoint): boolean {
  switch (point) {
    case 'queueSort':
      return plugin.compare !== undefined;
    case 'reserve':
      return plugin.reserve !== undefined || plugin.unreserve !== undefined;
    default:
      return plugin[point] !== undefined;
  }
}
