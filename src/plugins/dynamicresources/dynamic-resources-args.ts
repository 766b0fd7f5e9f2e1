import { parseDuration } from '../../base/parse-duration.ts';
import type { ReportProblem } from '../argument-schema.ts';
import { PluginArguments } from '../plugin-arguments.ts';

/** kube-scheduler's DynamicResourcesArgs. */
export const dynamicResourcesArguments = new PluginArguments('DynamicResources', {
  type: 'object',
  additionalProperties: false,
  properties: {
    filterTimeout: timeout('a duration such as 10s', 0),
    bindingTimeout: timeout('a duration of at least 1s', 1_000),
  },
});

function timeout(mustBe: string, minMs: number) {
  return {
    type: 'string',
    mustBe,
    check: (text: string, report: ReportProblem) => {
      const given = parseDuration(text);
      if (given === undefined || given < minMs) report([], `must be ${mustBe}, not ${JSON.stringify(text)}`);
    },
  } as const;
}
