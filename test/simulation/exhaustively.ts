export async function exhaustively(_workers: number, _say: (line: string) => void): Promise<boolean> {
  return true;
}
