import type { TimelineState } from '../api/timeline/timeline-state.ts';

/** Colors of the canvas. Those of states and entities are of Okabe and Ito's palette, which people with color blindness can tell apart. */
export interface Theme {
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly selected: string;
  readonly now: string;
  readonly states: Readonly<Record<TimelineState, string>>;
  /** Of the marks on a bar. */
  readonly mark: string;
  /** Entities in the nodes view. */
  readonly entities: readonly string[];
  readonly others: string;
}

const orange = '#e69f00';
const skyBlue = '#56b4e9';
const green = '#009e73';
const yellow = '#f0e442';
const blue = '#0072b2';
const vermillion = '#d55e00';
const purple = '#cc79a7';
const entities = [skyBlue, orange, green, purple, yellow, blue, vermillion];

export const light: Theme = {
  background: '#ffffff',
  text: '#1b1f24',
  muted: '#57606a',
  line: '#d8dee4',
  selected: '#e7f1fb',
  now: '#1b1f24',
  mark: '#1b1f24',
  entities,
  others: '#8c959f',
  states: {
    NotReady: '#8c959f',
    Waiting: skyBlue,
    Starting: blue,
    Partial: vermillion,
    Running: green,
    Degraded: orange,
    Finished: green,
    Failed: vermillion,
    Gone: '#8c959f',
    Unknown: purple,
  },
};

export const dark: Theme = {
  ...light,
  background: '#0f1419',
  text: '#e6edf3',
  muted: '#9aa6b2',
  line: '#2b333c',
  selected: '#1b2a3a',
  now: '#e6edf3',
  mark: '#e6edf3',
  states: { ...light.states, Starting: '#4ba3dd', Running: '#1fbf8f', Finished: '#1fbf8f' },
};

/** Returns the color of text on a color of the palette: the one with more contrast. */
export function inkOn(color: string): string {
  const [red, green, blue] = [1, 3, 5].map((start) => parseInt(color.slice(start, start + 2), 16));
  return 0.299 * red! + 0.587 * green! + 0.114 * blue! > 100 ? '#000000' : '#ffffff';
}
