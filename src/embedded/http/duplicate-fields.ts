/**
 * The paths of object fields that occur more than once in a JSON text that JSON.parse accepts (which silently keeps the
 * last). Each path is given once, in order of appearance.
 */
export function duplicateFields(text: string): string[] {
  const found = new Set<string>();
  let position = 0;

  const skipSpace = (): void => {
    while (position < text.length && text.charCodeAt(position) <= 0x20) position++;
  };
  const readString = (): string => {
    const start = position++;
    while (text[position] !== '"') position += text[position] === '\\' ? 2 : 1;
    position++;
    const raw = text.slice(start, position);
    return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  };
  const readValue = (path: string): void => {
    skipSpace();
    const first = text[position];
    if (first === '{') readObject(path);
    else if (first === '[') readArray(path);
    else if (first === '"') readString();
    else while (position < text.length && !',]} \n\r\t'.includes(text[position]!)) position++;
    skipSpace();
  };
  const readObject = (path: string): void => {
    const seen = new Set<string>();
    position++;
    skipSpace();
    while (text[position] !== '}') {
      skipSpace();
      const key = readString();
      const keyPath = path === '' ? key : `${path}.${key}`;
      if (seen.has(key)) found.add(keyPath);
      seen.add(key);
      skipSpace();
      position++; // the colon
      readValue(keyPath);
      if (text[position] === ',') position++;
      skipSpace();
    }
    position++;
  };
  const readArray = (path: string): void => {
    position++;
    skipSpace();
    for (let index = 0; text[position] !== ']'; index++) {
      readValue(`${path}[${index}]`);
      if (text[position] === ',') position++;
      skipSpace();
    }
    position++;
  };

  readValue('');
  return [...found];
}
