/**
 * Time limit in milliseconds for things that must happen at no stated time. It only ends tests that hang, with a message about what is
 * missing: no result may depend on the speed of the machine.
 */
export const hangsMs = 60_000;
