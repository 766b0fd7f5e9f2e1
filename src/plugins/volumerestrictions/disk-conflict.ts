import type { Disk, PodVolume } from '../../api/pod-volume.ts';

/** Returns whether pods with these volumes cannot share a node, because one of them would write to a shared disk. */
export function haveDiskConflict(ours: readonly PodVolume[], theirs: readonly PodVolume[]): boolean {
  for (const our of ours) {
    if (our.type !== 'inline' || our.disk === undefined) continue;
    for (const their of theirs) {
      if (their.type === 'inline' && their.disk !== undefined && conflict(our.disk, their.disk)) return true;
    }
  }
  return false;
}

function conflict(a: Disk, b: Disk): boolean {
  if (a.system === 'rbd' || b.system === 'rbd') {
    if (a.system !== 'rbd' || b.system !== 'rbd' || (a.readOnly && b.readOnly)) return false;
    return a.pool === b.pool && a.image === b.image && a.monitors.some((monitor) => b.monitors.includes(monitor));
  }
  if (a.system !== b.system || a.id !== b.id) return false;
  // An EBS volume cannot be mounted twice, even read-only.
  return a.system === 'aws' || !(a.readOnly && b.readOnly);
}
