import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import type { Clock } from '../base/clock.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** The `exec` section of a kubeconfig user. */
export interface ExecConfig {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly interactiveMode?: string;
  readonly provideClusterInfo?: boolean;
}

export interface ExecPluginOptions {
  readonly config: ExecConfig;
  /** The cluster in the form of client.authentication.k8s.io. Passed to the plugin with `provideClusterInfo`. */
  readonly cluster: object;
  readonly clock: Clock;
}

/** Output of a plugin: a token, a client certificate with its key, or both. */
export interface ExecCredential {
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** As Clock.now(). Absent: valid until the server rejects it. */
  readonly expiresAt?: number;
}

/** The versions that kubectl accepts since 1.24. */
const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
/** Time limit of a run, in milliseconds. Plugins that call a cloud API take seconds. */
const deadlineMs = 30_000;
/** A credential counts as expired this long before it expires, in milliseconds. */
const expiryMarginMs = 90_000;
const maxOutputBytes = 1_048_576;
const maxErrorCharacters = 1_000;

/** The credential plugin of a user: a command that prints an ExecCredential. The result is cached until it expires. */
export class ExecPlugin {
  readonly #options: ExecPluginOptions;
  #cached: ExecCredential | undefined;

  /** Throws KubeconfigError if the plugin cannot run. The message continues a sentence that starts with the user's name. */
  constructor(options: ExecPluginOptions) {
    const { apiVersion, command, interactiveMode } = options.config;
    this.#options = options;
    if (command === undefined || command === '') throw new KubeconfigError('exec has no command');
    if (!apiVersions.includes(apiVersion ?? '')) {
      throw new KubeconfigError(
        `exec has apiVersion ${JSON.stringify(apiVersion ?? '')}; expected ${apiVersions.join(' or ')}`,
      );
    }
    if (interactiveMode === 'Always') {
      throw new KubeconfigError(
        'exec has interactiveMode Always, but Tutti has no terminal: use a plugin that needs no input',
      );
    }
  }

  /**
   * Returns the credential, from the cache while it is valid. The caller must not run two at a time. Rejects with an Error that
   * names the command and never quotes its output.
   */
  async credential(): Promise<ExecCredential> {
    const { clock } = this.#options;
    const { expiresAt = Infinity } = this.#cached ?? { expiresAt: -Infinity };
    if (this.#cached !== undefined && expiresAt - expiryMarginMs > clock.now()) return this.#cached;
    this.#cached = this.#read(await this.#run());
    return this.#cached;
  }

  #run(): Promise<string> {
    const { config, cluster, clock } = this.#options;
    const { apiVersion, args, env, installHint, provideClusterInfo } = config;
    const command = config.command!;
    const spec = { interactive: false, ...(provideClusterInfo === true && { cluster }) };
    const environment = {
      ...process.env,
      ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify({ kind: 'ExecCredential', apiVersion, spec }),
    };
    return new Promise((resolve, reject) => {
      // In its own process group, so that killing it also ends its children.
      const child = spawn(command, args ?? [], { env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
      const printed: Buffer[] = [];
      let bytes = 0;
      let errorOutput = '';
      const timer = clock.setTimer(deadlineMs, () => {
        fail(
          `${command} did not finish within ${deadlineMs / 1000} s and was killed: run it by hand to see what it waits for`,
        );
      });
      const fail = (problem: string): void => {
        timer.cancel();
        killGroup(child);
        child.stdout.destroy();
        child.stderr.destroy();
        child.unref();
        reject(new Error(problem));
      };
      child.stdout.on('data', (chunk: Buffer) => {
        printed.push(chunk);
        bytes += chunk.length;
        if (bytes > maxOutputBytes) fail(`${command} printed more than ${maxOutputBytes} bytes and was killed`);
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        errorOutput = (errorOutput + text).slice(0, maxErrorCharacters);
      });
      child.on('error', (error: NodeJS.ErrnoException) => {
        const hint =
          installHint === undefined || installHint === '' ? 'install it, or correct exec.command' : installHint;
        fail(
          error.code === 'ENOENT'
            ? `${command} was not found: ${hint}`
            : `${command} failed to start: ${error.message}`,
        );
      });
      child.on('close', (code, signal) => {
        timer.cancel();
        if (code === 0) resolve(Buffer.concat(printed).toString('utf8'));
        else
          reject(
            new Error(
              `${command} exited with ${code === null ? signal : `status ${code}`}: ${errorOutput.trim() || 'no output on stderr'}`,
            ),
          );
      });
    });
  }

  #read(text: string): ExecCredential {
    const { apiVersion, command } = this.#options.config;
    const credential = parsed(text);
    if (credential === undefined) {
      throw new Error(
        `${command} printed ${text.trim() === '' ? 'nothing, expected an ExecCredential in JSON' : 'something that is not an ExecCredential in JSON'}`,
      );
    }
    if (credential.kind !== 'ExecCredential' || credential.apiVersion !== apiVersion) {
      throw new Error(
        `${command} did not print an ExecCredential of version ${apiVersion}, which exec.apiVersion requests`,
      );
    }
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = credential.status ?? {};
    if (isGiven(cert) !== isGiven(key))
      throw new Error(`${command} printed a client certificate or key without the other`);
    if (!isGiven(token) && !isGiven(cert)) {
      throw new Error(`${command} printed an ExecCredential without a token or client certificate in its status`);
    }
    const expiresAt = isGiven(expirationTimestamp) ? Date.parse(expirationTimestamp) : undefined;
    if (Number.isNaN(expiresAt)) throw new Error(`${command} printed an expirationTimestamp that is not a time`);
    return {
      ...(isGiven(token) && { token }),
      ...(isGiven(cert) && isGiven(key) && { certificate: { cert, key } }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  }
}

interface RawCredential {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly status?: Readonly<Record<string, unknown>> | null;
}

function parsed(text: string): RawCredential | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined; // the error would quote the output, which may be secret
  }
}

function isGiven(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // no process groups on this platform, or the process has exited
  }
}
