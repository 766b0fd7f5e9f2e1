import { startPlane } from '/work/main/src/compose/up.ts';
import { silentLogger } from '/work/main/src/observability/silent-logger.ts';
const p = await startPlane({ port: 18080, naive: false, logger: silentLogger as never, nodes: [1,2].map((n)=>({name:`node-${n}`, allocatable:{cpu:'2',memory:'4Gi'}})) });
console.log(p.kubeconfigPath);
