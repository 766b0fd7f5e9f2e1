import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { InputStream, OutputStream } from '../command-context.ts';
import { LiveView } from './live-view.ts';
import type { LiveViewOptions } from './live-view.ts';
import { Story } from './story.ts';
import { nodeOf } from './testing/observed-objects.ts';

function terminal(): { readonly output: OutputStream; readonly written: () => string } {
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 60, rows: 20 });
  return { output, written: () => String(output.read() ?? '') };
}

function viewOf({ output }: ReturnType<typeof terminal>, more: Partial<LiveViewOptions> = {}): LiveView {
  const story = new Story();
  story.change(0, { kind: 'node', node: nodeOf('node-1') });
  return new LiveView({
    output,
    errors: output,
    hasColors: false,
    story,
    gang: () => undefined,
    onQuit: () => undefined,
    ...more,
  });
}

function keyboard(): {
  readonly input: InputStream;
  readonly press: (keys: string) => void;
  readonly isRaw: () => boolean;
} {
  let isRaw = false;
  const input = Object.assign(new EventEmitter(), {
    setRawMode: (to: boolean) => void (isRaw = to),
    pause: () => undefined,
  }) as unknown as InputStream & EventEmitter;
  return { input, press: (keys) => void input.emit('data', Buffer.from(keys)), isRaw: () => isRaw };
}

it('hides the cursor while it draws and restores it once', () => {
  const screen = terminal();
  const { written } = screen;
  const view = viewOf(screen, { hasColors: true });
  expect(written()).toBe('\u001b[?25l');
  view.close();
  view.close();
  expect(written().split('\u001b[?25h')).toHaveLength(2);
});

it('wraps printed lines between words, but not a path to copy', () => {
  const screen = terminal();
  const view = viewOf(screen);
  const path = `export KUBECONFIG=/${'folder/'.repeat(20)}kubeconfig`;
  view.print([`${'some words '.repeat(9)}end`, path]);
  const lines = screen.written().split('\r\n');
  expect(lines.slice(0, 2).map((line) => stripVTControlCharacters(line).trim())).toEqual([
    'some words some words some words some words some words some',
    'words some words some words some words end',
  ]);
  expect(lines[2]).toBe(path);
});

it('keeps the indentation of commands to copy', () => {
  const screen = terminal();
  const view = viewOf(screen);
  const commands = ['  kubectl get pg', '  kubectl get pods -o wide'];
  view.print(commands);
  view.conclude(commands);
  const lines = stripVTControlCharacters(screen.written()).split(/[\r\n]+/);
  expect(lines.map((line) => line.trimEnd()).filter((line) => line.includes('kubectl'))).toEqual([
    ...commands,
    ...commands,
  ]);
});

it.each([
  [0, 0],
  [1, 1],
  [undefined, undefined],
  [2, 5],
])('draws in a terminal that reports %s columns and %s rows', (columns, rows) => {
  const screen = terminal();
  Object.assign(screen.output, { columns, rows });
  const view = viewOf(screen, { hasColors: true });
  view.print(['a line', 'another one of several words']);
  view.refresh(1_000);
  screen.output.emit('resize');
  view.conclude(['0 partial starts']);
  view.close();
  if (!columns) expect(screen.written()).toContain('2 of 2 cpu free');
});

it('rewrites only the lines that changed, in one write', () => {
  const screen = terminal();
  const { written } = screen;
  const view = viewOf(screen);
  view.refresh(1_000);
  expect(written()).toContain('node-1');
  view.refresh(1_001);
  expect(written()).toBe('');
  view.refresh(1_200);
  const update = written();
  expect(update).toContain('1.2s');
  expect(update).not.toContain('node-1');
});

it('writes log lines above the frame', () => {
  const screen = terminal();
  const { written } = screen;
  const view = viewOf(screen);
  view.refresh(1_000);
  written();
  view.log.write('WARN something\n');
  const update = written();
  expect(update.indexOf('WARN something')).toBeGreaterThan(update.indexOf('\u001b[J'));
  expect(update.indexOf('node-1')).toBeGreaterThan(update.indexOf('WARN something'));
});

it('counts in whole seconds after the scenario has ended', () => {
  const screen = terminal();
  const view = viewOf(screen);
  view.refresh(1_000);
  view.conclude(['0 partial starts']);
  expect(screen.written()).toContain('0 partial starts');
  view.refresh(1_900);
  expect(screen.written()).toBe('');
  view.refresh(9_000);
  expect(screen.written()).toContain('tutti up  9s');
});

it('removes the conclusion when a later event occurs', () => {
  const screen = terminal();
  const view = viewOf(screen);
  view.conclude(['0 partial starts']);
  expect(screen.written()).toContain('0 partial starts');
  view.notify([]);
  view.refresh(1_000);
  expect(screen.written()).not.toContain('0 partial starts');
  view.notify([{ atMs: 2_000, kind: 'group-created', group: 'default/red', minMember: 3 }]);
  view.refresh(2_000);
  const after = screen.written();
  expect(after).toContain('PodGroup with minMember 3');
  expect(after).toContain('\u001b[J');
});

describe('keys', () => {
  it('quit until the view is closed, which restores the terminal', () => {
    const screen = terminal();
    const { input, press, isRaw } = keyboard();
    let quits = 0;
    const view = viewOf(screen, { input, onQuit: () => quits++ });
    expect(isRaw()).toBe(true);
    press('q');
    press('\u0003');
    expect(quits).toBe(2);
    view.close();
    expect(isRaw()).toBe(false);
    press('q');
    expect(quits).toBe(2);
  });

  it('filter the frame: / begins, Enter keeps and Escape clears the text', () => {
    const screen = terminal();
    const { input, press } = keyboard();
    let quits = 0;
    const view = viewOf(screen, { input, onQuit: () => quits++ });
    view.refresh(1_000);
    expect(screen.written()).toContain('/ filter, q quit');
    press('/');
    press('qx');
    expect(quits).toBe(0);
    const filtered = screen.written();
    expect(filtered).toContain('/qx_   Enter keep, Esc clear');
    expect(filtered).not.toContain('node-1');
    press('\u007f\u007fNODE\r');
    expect(screen.written()).toMatch(/node-1[^]*filter: NODE/);
    press('\u001b[A');
    expect(screen.written()).toBe('');
    press('\u001b');
    expect(screen.written()).toContain('/ filter, q quit');
    press('q');
    expect(quits).toBe(1);
  });
});

it('prints its lines again after a resize, because it clears the screen', () => {
  const screen = terminal();
  const { written } = screen;
  const view = viewOf(screen);
  view.print(['export KUBECONFIG=/k']);
  view.refresh(1_000);
  written();
  screen.output.emit('resize');
  expect(written()).toMatch(/KUBECONFIG.*[^]*node-1/);
});
