// Records the responses of a real kube-apiserver to the cases of test/embedded/conformance in its folder golden/. Review the diff before
// you commit it: the tests compare the embedded plane with these responses.
import process from 'node:process';
import { serverCases } from '../test/embedded/conformance/cases.ts';
import { recordGolden } from '../test/embedded/conformance/golden-answers.ts';
import { provideBinaries } from '../test/planes/real/build.ts';
import { openRealPlane } from '../test/planes/real/real-plane.ts';

const programs = await provideBinaries(['etcd', 'kube-apiserver'], { mayBuild: true });
if (programs.state === 'missing') {
  console.error(programs.message);
  process.exit(1);
}
for (const cases of serverCases) {
  const plane = await openRealPlane({ paths: programs.paths, featureGates: cases.featureGates });
  try {
    await recordGolden(plane, cases);
    console.log(`recorded from Kubernetes ${plane.version} with ${cases.featureGates.join(', ')}`);
  } finally {
    await plane.stop();
  }
}
