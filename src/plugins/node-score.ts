/** The highest node score; 0 is the lowest. */
export const maxNodeScore = 100;
