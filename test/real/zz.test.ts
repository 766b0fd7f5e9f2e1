import { it, beforeAll, afterAll } from 'vitest';
import { provideForSuite } from '../planes/real/provide-real-plane.ts';
import { openRealPlane } from '../planes/real/real-plane.ts';
import { besideWithoutRoom } from './beside-kube-scheduler.ts';
const p = await provideForSuite('x', ['etcd', 'kube-apiserver', 'kube-scheduler']);
let plane: any;
beforeAll(async () => {
  plane = await openRealPlane({ paths: (p as any).paths });
}, 60000);
afterAll(() => plane.stop());
it.each(Array.from({ length: 12 }, (_, i) => i))('%i', () => besideWithoutRoom(plane), 60000);
