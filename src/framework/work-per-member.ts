/** Cost of signing or placing one member, in node evaluations. The node evaluations that placing it takes are not included. */
export const workPerMember = 40;
