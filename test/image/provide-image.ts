import process from 'node:process';
import { missingPackages } from '../planes/missing-packages.ts';
import type { Provision } from '../planes/real/build.ts';
import { provideForSuite, warnIfMissing } from '../planes/real/provide-real-plane.ts';

/** Whether this machine can build images, for suites that need one; as `provideForSuite`, which turns them off too. */
export async function provideImageForSuite(suite: string): Promise<Provision<never>> {
  const lacking = missingHere();
  if (lacking === undefined) return provideForSuite(suite, []);
  return warnIfMissing(suite, { state: 'missing', reason: 'unsuitable-machine', message: lacking });
}

/** Why images cannot be built, and what to do about it. */
function missingHere(): string | undefined {
  if (process.platform !== 'linux') return `images are built on Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'root builds images, for namespaces and mounts';
  const packages = missingPackages({ buildah: 'buildah', runc: 'runc', unshare: 'util-linux', setpriv: 'util-linux' });
  if (packages.length === 0) return undefined;
  return `images are built with programs that are not here: apt-get install ${packages.join(' ')}`;
}
