declare module "*/permissions.js" {
  const permissions: Record<string, string>;
  export default permissions;
}
