import { describe, expect, it } from 'vitest';
import { SimulatedProcess } from './process.ts';
import { Timeline } from './timeline.ts';

describe('The running time of a process', () => {
  it('excludes pauses', async () => {
    const timeline = new Timeline();
    const process = new SimulatedProcess({ role: 'scheduler', instance: 1, seed: 1, timeline });
    await timeline.turn(100);
    process.pause(1000);
    const during: number[] = [];
    timeline.at(600, () => during.push(process.ranMs));
    while (await timeline.turn(1200)) {
      // Run to the deadline.
    }
    expect([during, process.ranMs]).toEqual([[100], 200]);
    process.pause(50);
    while (await timeline.turn(1300)) {
      // Run to the deadline.
    }
    expect(process.ranMs).toBe(250);
  });
});
