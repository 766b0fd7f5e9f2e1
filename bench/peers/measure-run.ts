import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { BenchPlane } from './bench-plane.ts';
import { benchSchedulerName, schedulerProcess } from './contenders/contender.ts';
import type { Contender } from './contenders/contender.ts';
import { preemptionFigures, schedulingFigures } from './figures.ts';
import type { LoadProcess } from './load/load-process.ts';
import { monotonicNow } from './monotonic-now.ts';
import { processUsage } from './process-usage.ts';
import { parseRequestCounts, schedulerCalls } from './request-counts.ts';
import type { RunFigures } from './results.ts';
import type { Workload } from './workload.ts';

export interface RunLimits {
  /** Maximum time from the last create until all pods that fit are bound. */
  readonly limitMs: number;
  /** The run ends if no pod is bound for this long. */
  readonly stallMs: number;
}

const readyWithinMs = 120_000;
/** After its initial lists of thousands of objects, a scheduler needs this time for garbage collection and its caches. */
const restMs = 2_000;
/** Wait after the last binding: Events and conditions that are still in flight belong to the load. */
const trailMs = 3_000;
/** A scheduler that writes its Events after its Bindings may have thousands left. It is done when it uses almost no CPU time. */
const workedOff = { everyMs: 1_000, cpuMs: 50, withinMs: 60_000 };
/** Wait after the last binding if gangs must wait: the cost of waiting gangs, and errors in this time, belong to the run. */
const contendedTrailMs = 10_000;

/** Measures one scheduler with one workload, on an unused plane and with an unused load generator. Rejects if the measurement fails. */
export async function measureRun(
  plane: BenchPlane,
  load: LoadProcess,
  contender: Contender,
  workload: Workload,
  limits: RunLimits,
): Promise<RunFigures> {
  try {
    await load.ask({
      kind: 'prepare',
      target: plane.target,
      workload,
      groups: contender.groupsFor(workload),
      schedulerName: benchSchedulerName,
    });
    let scheduler: StartedScheduler;
    let before: Readings;
    let planeBefore: number;
    let startAt: number;
    switch (workload.loading) {
      case 'arriving':
        scheduler = await startScheduler(plane, contender, workload);
        await sleep(restMs);
        before = await takeReadings(plane, 'counts first', scheduler.pid);
        planeBefore = await planeCpuMs(plane);
        startAt = (await load.ask({ kind: 'create' })).firstAt;
        break;
      case 'backlog':
        await load.ask({ kind: 'create' });
        await sleep(restMs);
        planeBefore = await planeCpuMs(plane);
        // The scheduler starts to schedule during its startup, so its entire lifetime belongs to the load.
        before = await takeReadings(plane, 'counts first', undefined);
        scheduler = await startScheduler(plane, contender, workload);
        startAt = scheduler.readyAt;
        break;
    }
    const { complete } = await load.ask({ kind: 'await', ...limits });
    const planeCpuUntilBoundMs = (await planeCpuMs(plane)) - planeBefore;
    if (workload.fitting < workload.gangs) {
      await sleep(contendedTrailMs);
    } else {
      await sleep(trailMs);
      await untilWorkedOff(scheduler.pid);
    }
    const after = await takeReadings(plane, 'usage first', scheduler.pid);
    const { pods, evicted, watchRestarts } = await load.ask({ kind: 'report' });
    // The scheduler may have bound pods before the benchmark noticed that it is ready.
    const firstBindAt = Math.min(...pods.map(({ boundAt = Infinity }) => boundAt));
    const scheduling = schedulingFigures(workload, pods, Math.min(startAt, firstBindAt));
    const preemption = preemptionFigures(workload, scheduling, evicted);
    const perPod = (amount: number): number => amount / Math.max(1, scheduling.bound);
    const apiCalls = schedulerCalls(before.counts, after.counts);
    return {
      ...scheduling,
      complete,
      cpuMsPerPod: perPod(after.scheduler.cpuMs - before.scheduler.cpuMs),
      peakMb: after.scheduler.peakMb,
      apiCallsPerPod: perPod(Object.values(apiCalls).reduce((sum, calls) => sum + calls, 0)),
      apiCalls,
      apiServerCpuMsPerPod: perPod(after.apiServer.cpuMs - before.apiServer.cpuMs),
      planeCpuUntilBoundMs,
      startUpMs: scheduler.readyAt - scheduler.startedAt,
      startUpCpuMs: scheduler.startUpCpuMs,
      watchRestarts,
      ...(preemption !== undefined && { preemption }),
    };
  } catch (cause) {
    const lines = await plane.group.lastLines(schedulerProcess, 5);
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(lines === '' ? message : `${message}; the scheduler's last lines:\n${lines}`, { cause });
  } finally {
    // A graceful stop, so that the scheduler can write a profile.
    await plane.group.kill(schedulerProcess, 'SIGTERM');
  }
}

/** Returns the CPU time that etcd and the API server have used. */
async function planeCpuMs(plane: BenchPlane): Promise<number> {
  const usage = await Promise.all([processUsage(plane.pidOf('etcd')), processUsage(plane.pidOf('kube-apiserver'))]);
  return usage.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

async function untilWorkedOff(pid: number): Promise<void> {
  const givenUpAt = monotonicNow() + workedOff.withinMs;
  let { cpuMs } = await processUsage(pid);
  while (monotonicNow() < givenUpAt) {
    await sleep(workedOff.everyMs);
    const now = await processUsage(pid);
    if (now.cpuMs - cpuMs <= workedOff.cpuMs) return;
    cpuMs = now.cpuMs;
  }
}

interface StartedScheduler {
  readonly pid: number;
  readonly startedAt: number;
  readonly readyAt: number;
  readonly startUpCpuMs: number;
}

async function startScheduler(plane: BenchPlane, contender: Contender, workload: Workload): Promise<StartedScheduler> {
  const { group, kubeconfigPath } = plane;
  const { command, args, readyUrl } = await contender.command({ group, kubeconfigPath, workload });
  const startedAt = monotonicNow();
  await group.start(schedulerProcess, command, args);
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    for (;;) {
      const pid = group.pid(schedulerProcess);
      if (pid === undefined) throw new Error(`${contender.name} exited: ${group.exit(schedulerProcess)}`);
      if (await answersOk(readyUrl, agent)) {
        const readyAt = monotonicNow();
        return { pid, startedAt, readyAt, startUpCpuMs: (await processUsage(pid)).cpuMs };
      }
      if (monotonicNow() > startedAt + readyWithinMs) throw new Error(`${contender.name} did not become ready`);
      await sleep(10);
    }
  } finally {
    await agent.destroy();
  }
}

async function answersOk(url: string, dispatcher: Agent): Promise<boolean> {
  const response = await request(url, { dispatcher }).catch(() => undefined);
  await response?.body.dump();
  return response?.statusCode === 200;
}

interface Readings {
  readonly counts: ReturnType<typeof parseRequestCounts>;
  readonly scheduler: { readonly cpuMs: number; readonly peakMb: number };
  readonly apiServer: { readonly cpuMs: number };
}

/** Reads request counts and CPU usage. The API server needs CPU time to serve the counts, which `order` excludes from the load. Without a pid the usage of the scheduler is zero. */
async function takeReadings(
  plane: BenchPlane,
  order: 'counts first' | 'usage first',
  pid: number | undefined,
): Promise<Readings> {
  const readCounts = async (): Promise<Readings['counts']> => parseRequestCounts(await plane.metrics());
  const readUsage = (): Promise<[Readings['scheduler'], Readings['apiServer']]> =>
    Promise.all([
      pid === undefined ? { cpuMs: 0, peakMb: 0 } : processUsage(pid),
      processUsage(plane.pidOf('kube-apiserver')),
    ]);
  if (order === 'counts first') {
    const counts = await readCounts();
    const [scheduler, apiServer] = await readUsage();
    return { counts, scheduler, apiServer };
  }
  const [scheduler, apiServer] = await readUsage();
  return { counts: await readCounts(), scheduler, apiServer };
}
