// Records what a real kube-apiserver answers to the cases of test/embedded/conformance, into the folder golden/ there. Look
// at the difference before committing it: it is what the embedded plane is held against.
import process from 'node:process';
import { recordGolden } from '../test/embedded/conformance/golden-answers.ts';
import { provideBinaries } from '../test/planes/real/build.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';

const programs = await provideBinaries(['etcd', 'kube-apiserver'], { mayBuild: true });
if (programs.state === 'missing') {
  console.error(programs.message);
  process.exit(1);
}
const plane = await openRealPlane({ paths: programs.paths });
try {
  await recordGolden(plane);
  console.log(`recorded from Kubernetes ${plane.version}`);
} finally {
  await plane.stop();
}
