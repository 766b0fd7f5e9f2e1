import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import process from 'node:process';
import { promisify } from 'node:util';

/** The Go installation of this machine. */
export type GoToolchain =
  | { readonly state: 'found'; readonly version: string }
  | { readonly state: 'absent' }
  /** Too old for the modules; `version` is the installed one. */
  | { readonly state: 'too-old'; readonly version: string };

/** Minimum version; no go.mod under modules/ needs a newer one. */
export const neededGoVersion = '1.26';

/** Returns an environment in which Go uses only the installed toolchain, and ignores workspaces and flags of the user. */
export function goEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, GOTOOLCHAIN: 'local', GOWORK: 'off', GOFLAGS: '', CGO_ENABLED: '0' };
}

/** Returns the version of the `go` on the PATH. */
export async function findGo(command = 'go'): Promise<GoToolchain> {
  // Run outside of any module, so that no go.mod makes it fail.
  const cwd = tmpdir();
  await mkdir(cwd, { recursive: true });
  const answer = await promisify(execFile)(command, ['env', 'GOVERSION'], { cwd, env: goEnvironment() }).catch(
    () => undefined,
  );
  const version = /^go(\d+\.\d+\S*)/.exec(answer?.stdout ?? '')?.[1];
  if (version === undefined) return { state: 'absent' };
  return { state: isAtLeast(version, neededGoVersion) ? 'found' : 'too-old', version };
}

/** Compares major and minor; `1.26rc1` counts as 1.26. */
function isAtLeast(version: string, needed: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number);
  return major !== neededMajor ? major > neededMajor : minor >= neededMinor;
}
