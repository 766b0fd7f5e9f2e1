import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { OutputStream } from '../command-context.ts';
import { LiveView } from './live-view.ts';
import { Story } from './story.ts';

function terminal(): { readonly output: OutputStream; readonly written: () => string } {
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 60, rows: 20 });
  return { output, written: () => String(output.read() ?? '') };
}

const nodes = [{ name: 'node-1', milliCpu: 2_000 }];

it('hides the cursor while it draws and gives it back once', () => {
  const { output, written } = terminal();
  const view = new LiveView({ output, errors: output, hasColors: true, nodes, story: new Story() });
  expect(written()).toBe('\u001b[?25l');
  view.close();
  view.close();
  expect(written().split('\u001b[?25h')).toHaveLength(2);
});

it('rewrites only the lines that changed, in one write', () => {
  const { output, written } = terminal();
  const view = new LiveView({ output, errors: output, hasColors: false, nodes, story: new Story() });
  view.refresh(1_000);
  expect(written()).toContain('node-1');
  view.refresh(1_001);
  expect(written()).toBe('');
  view.refresh(1_200);
  const update = written();
  expect(update).toContain('1.2s');
  expect(update).not.toContain('node-1');
});

it('lets log lines pass above the picture', () => {
  const { output, written } = terminal();
  const view = new LiveView({ output, errors: output, hasColors: false, nodes, story: new Story() });
  view.refresh(1_000);
  written();
  view.log.write('WARN something\n');
  const update = written();
  expect(update.indexOf('WARN something')).toBeGreaterThan(update.indexOf('\u001b[J'));
  expect(update.indexOf('node-1')).toBeGreaterThan(update.indexOf('WARN something'));
});

it('stops the time when the scenario is over', () => {
  const { output, written } = terminal();
  const view = new LiveView({ output, errors: output, hasColors: false, nodes, story: new Story() });
  view.refresh(1_000);
  view.conclude(['0 partial starts']);
  expect(written()).toContain('0 partial starts');
  view.refresh(9_000);
  expect(written()).toBe('');
});

it('says again what it said when the size of the terminal changes, because that clears it', () => {
  const { output, written } = terminal();
  const view = new LiveView({ output, errors: output, hasColors: false, nodes, story: new Story() });
  view.say(['export KUBECONFIG=/k']);
  view.refresh(1_000);
  written();
  output.emit('resize');
  expect(written()).toMatch(/KUBECONFIG.*[^]*node-1/);
});
