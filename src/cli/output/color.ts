import type { OutputStream } from '../command-context.ts';

export const colorModes = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof colorModes)[number];

/** ANSI codes that switch a color on. */
const codes = { red: 31, green: 32, yellow: 33, magenta: 35, faint: 2 } as const;
export type Color = keyof typeof codes;

/** Returns whether to use colors. `auto`: in a terminal, unless NO_COLOR is set or TERM is dumb. */
export function usesColor(
  mode: ColorMode,
  { isTTY = false }: Pick<OutputStream, 'isTTY'>,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if (mode !== 'auto') return mode === 'always';
  return isTTY && (environment.NO_COLOR ?? '') === '' && environment.TERM !== 'dumb';
}

export function colored(text: string, color: Color): string {
  return `\u001b[${codes[color]}m${text}\u001b[0m`;
}
