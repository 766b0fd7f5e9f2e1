/** Maximum number of characters of a path. A path with a key as long as a body would make every error as long. */
const maxPathLength = 1_000;

function extended(path: string, part: string): string {
  if (path.length + part.length <= maxPathLength) return path + part;
  return path.endsWith('…') ? path : `${path}${part.slice(0, maxPathLength - path.length)}…`;
}

/** Returns the path of a field of `parent`. The path "" is the object itself. */
export function childPath(parent: string, name: string): string {
  return extended(parent, parent === '' ? name : `.${name}`);
}

/** Returns the path of a list element. */
export function elementPath(parent: string, index: number): string {
  return extended(parent, `[${index}]`);
}

/** Returns the path of a user-defined key in a map. The key may contain dots. */
export function keyPath(parent: string, key: string): string {
  return extended(parent, `[${key}]`);
}
