/** The best that a plugin may say of a node; 0 is the worst. */
export const maxNodeScore = 100;
