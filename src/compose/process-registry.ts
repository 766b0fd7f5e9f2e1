import { packageVersion } from '../base/package-files.ts';
import { registerBuildInfo } from '../observability/build-info.ts';
import { createMetricRegistry } from '../observability/metric-registry.ts';
import type { MetricRegistry } from '../observability/metric-registry.ts';

/** Returns the registry of a process, with its build information. */
export function processRegistry(): MetricRegistry {
  const registry = createMetricRegistry({ processMetrics: true });
  registerBuildInfo(registry, packageVersion());
  return registry;
}
