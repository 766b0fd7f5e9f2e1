import { readFile } from 'node:fs/promises';

/** A hundredth of a second in what Linux shows to programs, whatever the kernel's own tick. */
const msPerTick = 10;

/** What the kernel has counted for a process. Linux only. */
export interface ProcessUsage {
  /** Processor time of all its threads since it started, user and system. */
  readonly cpuMs: number;
  /** Most resident memory it ever had (VmHWM), in MB of 2^20 bytes. */
  readonly peakMb: number;
}

/** Rejects when there is no such process. */
export async function processUsage(pid: number): Promise<ProcessUsage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  return { cpuMs: parseCpuTicks(stat) * msPerTick, peakMb: parsePeakKb(status) / 1024 };
}

/** utime + stime of /proc/PID/stat. The name in brackets may hold anything, so fields count from its last bracket. */
export function parseCpuTicks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function parsePeakKb(status: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
}
