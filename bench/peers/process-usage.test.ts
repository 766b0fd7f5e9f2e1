import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { parseCpuTicks, processUsage } from './process-usage.ts';

describe('processUsage', () => {
  it('parses the fields after the name, whatever the name contains', () => {
    const fields = Array.from({ length: 50 }, (_, index) => String(index + 3));
    expect(parseCpuTicks(`42 (a) 1 2 (b)) ${fields.join(' ')}`)).toBe(14 + 15);
  });

  it.runIf(process.platform === 'linux')('agrees with what the process says of itself', async () => {
    const { cpuMs, peakMb } = await processUsage(process.pid);
    const { user, system } = process.cpuUsage();
    expect(Math.abs(cpuMs - (user + system) / 1000)).toBeLessThan(500);
    expect(peakMb).toBeGreaterThan(process.memoryUsage.rss() / 2 ** 20 - 20);
    // The maximum of getrusage also includes the process from which this one was forked.
    expect(peakMb).toBeLessThan(process.resourceUsage().maxRSS / 1024 + 20);
  });
});
