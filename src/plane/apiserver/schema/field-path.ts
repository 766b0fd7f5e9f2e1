/** Returns the path of a field of `parent`. The path "" is the object itself. */
export function childPath(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** Returns the path of a list element. */
export function elementPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

/** Returns the path of a user-defined key in a map. The key may contain dots. */
export function keyPath(parent: string, key: string): string {
  return `${parent}[${key}]`;
}
