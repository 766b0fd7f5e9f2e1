import { expect, it } from 'vitest';
import { UserError } from '../base/user-error.ts';
import { CertificateError } from '../serving/certificates/certificate-error.ts';
import { AuthenticationLookupError } from '../serving/secure-serving.ts';
import { AccessDeniedError } from '../client/access-denied-error.ts';
import { ConnectionError, TimeoutError, UnauthorizedError } from '../client/api-errors.ts';
import { KubeconfigError } from '../client/kubeconfig-error.ts';
import { ConfigurationError } from '../config/configuration-error.ts';
import { TemporaryFolderError } from '../compose/temporary-folder-error.ts';
import { UnsupportedConfigurationError } from '../compose/unsupported-configuration-error.ts';
import { ConditionError } from '../compose/until.ts';
import { PortUnavailableError } from '../base/port-unavailable-error.ts';
import { ProfileError } from '../framework/profile.ts';
import { PluginArgumentsError } from '../plugins/plugin-arguments-error.ts';
import { ExtenderConfigurationError } from '../scheduler/api/extender-configuration-error.ts';
import { ManifestError } from './manifests/manifest.ts';
import { OutputError } from './output-error.ts';
import { OutputFileError } from './output/output-file-error.ts';
import { InstallationError } from '../base/package-files.ts';
import { PluginFileError } from './plugin-file-error.ts';

const cause = new Error('system error');
const rejected = { status: 401, reason: 'Unauthorized', request: 'GET /version', causes: [] };

it.each([
  ['AccessDeniedError', new AccessDeniedError(new UnauthorizedError('no', rejected))],
  ['AuthenticationLookupError', new AuthenticationLookupError('no ConfigMap')],
  ['CertificateError', new CertificateError('expired')],
  ['ConditionError', new ConditionError('no Lease')],
  [
    'ConfigurationError',
    new ConfigurationError('a.yaml', [{ file: 'a.yaml', line: 1, column: 1, path: [], text: 'no' }]),
  ],
  ['ConnectionError', new ConnectionError('no answer', { ambiguous: false, cause })],
  ['ExtenderConfigurationError', new ExtenderConfigurationError('extenders[0].urlPrefix must be a URL')],
  ['InstallationError', new InstallationError('/dist')],
  ['KubeconfigError', new KubeconfigError('no kubeconfig')],
  ['ManifestError', new ManifestError(['a.yaml: no'])],
  ['OutputFileError', new OutputFileError('the configuration', '/a', cause)],
  ['OutputError', new OutputError('standard output', cause)],
  ['PluginArgumentsError', new PluginArgumentsError('Coscheduling', [{ path: [], problem: 'must be an object' }])],
  ['PluginFileError', new PluginFileError('a.ts', 'it is not a file')],
  ['PortUnavailableError', new PortUnavailableError('127.0.0.1', 80, '--secure-port', cause)],
  ['ProfileError', new ProfileError('no such plugin')],
  ['TemporaryFolderError', new TemporaryFolderError('the kubeconfig', cause)],
  ['UnsupportedConfigurationError', new UnsupportedConfigurationError('preemptVerb is not supported')],
  ['TimeoutError', new TimeoutError('no answer', { ambiguous: false })],
])('%s is a UserError', (name, error) => {
  expect(error).toBeInstanceOf(UserError);
  expect(error.name).toBe(name);
});
