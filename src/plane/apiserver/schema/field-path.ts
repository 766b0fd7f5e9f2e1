/** The path of a field below `parent`; "" is the object itself. */
export function childPath(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** The path of a list's element. */
export function elementPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

/** The path of a key in a map of user-chosen keys, which may contain dots. */
export function keyPath(parent: string, key: string): string {
  return `${parent}[${key}]`;
}
