import process from 'node:process';
import { Gauge } from 'prom-client';
import type { MetricRegistry } from './metric-registry.ts';

/** Registers a gauge with the versions as labels. */
export function registerBuildInfo(registry: MetricRegistry, version: string): void {
  const gauge = new Gauge({
    name: 'tutti_build_info',
    help: 'Always 1. The label "version" is the version of Tutti, "node_version" that of Node.js.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  });
  gauge.set({ version, node_version: process.version }, 1);
}
