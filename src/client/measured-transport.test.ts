import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import { MeasuredTransport } from './measured-transport.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

it('counts requests by response status, and times all but watches', async () => {
  const registry = createMetricRegistry({ processMetrics: false });
  const clock = new VirtualClock();
  const answers: (number | Error)[] = [200, 409, new Error('lost'), 200];
  const send = (): Promise<TransportResponse> => {
    clock.advance(100);
    const answer = answers.shift()!;
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve({ status: answer, headers: {}, body: Readable.from([]) });
  };
  const transport = new MeasuredTransport({
    transport: { send, close: () => Promise.resolve() },
    clock,
    registry,
    server: 'https://user@api.example:6443/prefix',
  });
  const request = (more: Partial<TransportRequest>): TransportRequest => ({
    method: 'POST',
    path: '/',
    headers: {},
    ...more,
  });
  await transport.send(request({}));
  await transport.send(request({}));
  await expect(transport.send(request({}))).rejects.toThrow('lost');
  await transport.send(request({ method: 'GET', connection: 'watch' }));
  const text = await registry.metrics();
  for (const line of [
    'rest_client_requests_total{code="200",method="POST",host="api.example:6443"} 1',
    'rest_client_requests_total{code="409",method="POST",host="api.example:6443"} 1',
    'rest_client_requests_total{code="<error>",method="POST",host="api.example:6443"} 1',
    'rest_client_requests_total{code="200",method="GET",host="api.example:6443"} 1',
    'rest_client_request_duration_seconds_count{verb="POST",host="api.example:6443"} 3',
    'rest_client_request_duration_seconds_bucket{verb="POST",host="api.example:6443",le="0.1"} 3',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  expect(text).not.toContain('duration_seconds_count{verb="GET"');
});

it('logs each request at level debug, even one without a response', async () => {
  const lines: unknown[] = [];
  const clock = new VirtualClock();
  const answers: (number | Error)[] = [201, new Error('lost')];
  const transport = new MeasuredTransport({
    transport: {
      send: () => {
        clock.advance(7);
        const answer = answers.shift()!;
        if (answer instanceof Error) return Promise.reject(answer);
        return Promise.resolve({ status: answer, headers: {}, body: Readable.from([]) });
      },
      close: () => Promise.resolve(),
    },
    clock,
    registry: createMetricRegistry({ processMetrics: false }),
    server: 'https://api.example',
    logger: { debug: (message, fields) => void lines.push([message, fields]) },
  });
  const request: TransportRequest = { method: 'POST', path: '/a/binding', headers: { authorization: 'Bearer secret' } };
  await transport.send(request);
  await expect(transport.send(request)).rejects.toThrow('lost');
  const common = { method: 'POST', path: '/a/binding', ms: 7 };
  expect(lines).toEqual([
    ['request', { ...common, code: '201' }],
    ['request', { ...common, code: '<error>', error: 'Error: lost' }],
  ]);
});
