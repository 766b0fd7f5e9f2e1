import { expect, it } from 'vitest';
import { configurationObject } from '../config/format-configuration.ts';
import { defaultConfiguration, defaultProfile } from '../config/scheduler-configuration.ts';
import { configzRoute } from './configz-route.ts';

it('serves the configuration and withholds its secrets', async () => {
  const secret = 'c2VjcmV0';
  const configuration = defaultConfiguration({
    profiles: [
      {
        ...defaultProfile('tutti'),
        plugins: [
          {
            name: 'Custom',
            args: { endpoint: `https://ann:${secret}@host/a`, deep: [{ apiToken: secret, rack: 'left' }] },
          },
        ],
      },
    ],
    extenders: [
      {
        urlPrefix: `https://ann:${secret}@extender.example/scheduler`,
        weight: 1,
        enableHttps: true,
        httpTimeoutMs: 5_000,
        nodeCacheCapable: false,
        managedResources: [],
        ignorable: false,
        tls: { insecure: false, certData: secret, keyData: secret, caData: secret, caFile: '/etc/ca.crt' },
      },
    ],
  });
  const { status, text } = await configzRoute('a.example', configurationObject(configuration)).answer(
    new URLSearchParams(),
  );
  expect(status).toBe(200);
  expect(text).not.toContain(secret);
  const shown = (JSON.parse(text) as Record<string, Record<string, unknown>>)['a.example']!;
  expect(shown).toMatchObject({
    kind: 'KubeSchedulerConfiguration',
    podMaxBackoffSeconds: 10,
    extenders: [
      {
        urlPrefix: 'https://(withheld)@extender.example/scheduler',
        tlsConfig: { caFile: '/etc/ca.crt', keyData: '(withheld)' },
      },
    ],
  });
  expect(text).toContain('"rack": "left"');
});
