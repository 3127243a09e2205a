import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'

/** What a request to /graphql asks for, as far as its limits and its key depend on it. */
export interface RequestedOperation {
  kind: OperationDefinitionNode['operation']
  /** The fields at its root, fragments opened; `__typename`, which asks for nothing, left out. */
  rootFields: readonly FieldNode[]
}

/** The operation that a validated document will run; undefined where it leaves open which. */
export function requestedOperation(
  document: DocumentNode,
  name: string | null | undefined,
): RequestedOperation | undefined {
  const operation = getOperationAST(document, name)
  if (!operation) return undefined
  const fragments = new Map(
    document.definitions
      .filter(
        (definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION,
      )
      .map((fragment) => [fragment.name.value, fragment]),
  )
  const fieldsOf = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return selection
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet)
      return fieldsOf(fragments.get(selection.name.value)!.selectionSet)
    })
  return {
    kind: operation.operation,
    rootFields: fieldsOf(operation.selectionSet).filter(({ name }) => name.value !== '__typename'),
  }
}
