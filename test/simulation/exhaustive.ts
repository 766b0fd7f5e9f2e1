export async function runPart(_part: number, _of: number): Promise<unknown> {
  return undefined;
}
