import type { Node } from '../../api/node.ts';
import type { Clock } from '../../base/clock.ts';
import { TimeoutError } from '../../client/api-errors.ts';
import { DialError } from '../../client/http/dial.ts';
import { readText } from '../../client/read-text.ts';
import { AnswerTooLongError } from '../../client/transport.ts';
import type { Transport, TransportRequest } from '../../client/transport.ts';
import type { WriteFence } from '../../client/write-fence.ts';
import type { ExtenderConfiguration } from '../../config/scheduler-configuration.ts';
import type { Extender, WholePod } from '../../framework/extender.ts';
import type { PodBinding } from '../../framework/plugin-handle.ts';
import { CallSlots } from './call-slots.ts';
import type { ExtenderBinding } from './extender-binding.ts';
import {
  bindingArgs,
  ExtenderAnswerError,
  extenderArgs,
  readBindingResult,
  readFilterResult,
  readHostPriorities,
} from './extender-wire.ts';
import type { WholeObjects } from './whole-objects.ts';

export interface HttpExtenderOptions {
  readonly configuration: ExtenderConfiguration;
  /** Used in messages. */
  readonly name: string;
  /** Sends requests to `urlPrefix`. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly objects: Pick<WholeObjects, 'node'>;
  readonly binding: Pick<ExtenderBinding, 'bind'>;
  /** Stops binds of a process that is not the leader. If absent, it may always bind. */
  readonly fence?: WriteFence | undefined;
}

/** Maximum number of concurrent calls. An extender that handles one call at a time must finish all of them within one timeout. */
const callsAtOnce = 8;
/** Response limit: more than all nodes of the largest clusters need. A longer response could exhaust the memory. */
const maxBytes = 128 << 20;
const headers = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'tutti-scheduler' };

/** A Kubernetes scheduler extender: POSTs JSON to a verb under its URL, up to eight calls at a time, each with a timeout. */
export function httpExtender(options: HttpExtenderOptions): Extender {
  const { configuration, name, binding, fence } = options;
  const { filterVerb, prioritizeVerb, bindVerb } = configuration;
  const slots = new CallSlots(callsAtOnce);
  const ask = (verb: string, body: string, signal: AbortSignal): Promise<unknown> =>
    slots.run(() => post(options, { verb, body, isRead: true }, signal), signal);
  const bind = (verb: string, pod: PodBinding, signal: AbortSignal): Promise<unknown> =>
    slots.run(() => {
      const { mayBeSent: isWanted } = pod;
      const reported = { verb, body: bindingArgs(pod), isRead: false };
      if (fence === undefined) return post(options, { ...reported, mayBeSent: isWanted }, signal);
      const send = (isLeading: () => void, fenceSignal: AbortSignal): Promise<unknown> => {
        const mayBeSent = (): void => {
          isWanted?.();
          isLeading();
        };
        return post(options, { ...reported, mayBeSent }, AbortSignal.any([signal, fenceSignal]));
      };
      return fence.pass(send, (error) => !(error instanceof ExtenderAnswerError));
    }, signal);
  const args = (pod: WholePod, nodes: readonly Node[]): string =>
    extenderArgs(
      pod.json,
      configuration.nodeCacheCapable
        ? { names: nodes.map((node) => node.name) }
        : { json: nodes.map((node) => options.objects.node(node)) },
    );
  return {
    name,
    isIgnorable: configuration.ignorable,
    managedResources: configuration.managedResources.map((resource) => resource.name),
    weight: configuration.weight,
    ...(filterVerb !== undefined && {
      filter: async (pod, nodes, signal) => {
        const answer = await ask(filterVerb, args(pod, nodes), signal);
        return readFilterResult(answer, new Set(nodes.map((node) => node.name)), configuration.nodeCacheCapable);
      },
    }),
    ...(prioritizeVerb !== undefined && {
      prioritize: async (pod, nodes, signal) => readHostPriorities(await ask(prioritizeVerb, args(pod, nodes), signal)),
    }),
    ...(bindVerb !== undefined && {
      bind: (pod, signal) =>
        binding.bind(pod, async () => readBindingResult(await bind(bindVerb, pod, signal)), signal),
    }),
  };
}

interface ExtenderCall extends Pick<TransportRequest, 'mayBeSent'> {
  readonly verb: string;
  readonly body: string;
  /** The call has no side effects, so it is retried once if the connection is lost before a response. */
  readonly isRead: boolean;
}

/** Resolves to the parsed JSON of the response. */
async function post(
  { transport, clock, configuration }: HttpExtenderOptions,
  { verb, body, isRead, mayBeSent }: ExtenderCall,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted();
  const late = new AbortController();
  const timer = clock.setTimer(configuration.httpTimeoutMs, () => {
    const within = `${configuration.httpTimeoutMs / 1000} s`;
    late.abort(new TimeoutError(`no response within ${within} (httpTimeout)`, { ambiguous: !isRead }));
  });
  const either = AbortSignal.any([signal, late.signal]);
  const path = `/${encodeURI(verb)}`;
  const send = async (): Promise<unknown> => {
    const request = { method: 'POST', path, headers, body, mostBytes: maxBytes, mayBeSent } as const;
    const response = await transport.send(request, either);
    const text = await readText(response.body, maxBytes);
    const { location, 'content-encoding': coding = 'identity' } = response.headers;
    if (response.status >= 300 && response.status < 400 && location !== undefined) {
      throw new ExtenderAnswerError(
        `${verb} returned status ${response.status}, a redirect to ${location}: set urlPrefix to the final address`,
      );
    }
    if (coding !== 'identity') {
      throw new ExtenderAnswerError(`${verb} returned content encoding ${coding}, which was not requested`);
    }
    if (response.status !== 200) {
      throw new ExtenderAnswerError(`${verb} returned status ${response.status}: ${text.trim().slice(0, 200)}`);
    }
    return parsed(text, verb);
  };
  try {
    return await send();
  } catch (error) {
    either.throwIfAborted();
    if (error instanceof AnswerTooLongError) {
      throw new ExtenderAnswerError(`${verb} returned more than ${maxBytes >> 20} MiB`, { cause: error });
    }
    if (!isRead || error instanceof ExtenderAnswerError || error instanceof DialError) throw error;
    return await send();
  } finally {
    timer.cancel();
  }
}

function parsed(text: string, verb: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ExtenderAnswerError(`${verb} returned invalid JSON: ${text.trim().slice(0, 100)}`, { cause });
  }
}
