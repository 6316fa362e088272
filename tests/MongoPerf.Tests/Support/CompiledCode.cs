using System.Collections.Immutable;
using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;

namespace MongoPerf.Tests.Support;

/// <summary>
/// What an assembly declares and uses, by source file, read from its metadata, its code and its symbols (a portable PDB).
/// </summary>
/// <remarks>A type is called "Namespace.Type", or "Namespace.Type/Nested"; a method of it "Namespace.Type::Method".</remarks>
internal sealed class CompiledCode : IDisposable
{
    // Source: the portable PDB's format. Roslyn lists here the files of types without code.
    private static readonly Guid TypeDefinitionDocuments = new("932E74BC-DBA9-4478-8D46-0F32A7BAB3D3");

    private static readonly Dictionary<ushort, OperandType> Operands = typeof(OpCodes).GetFields()
        .Select(field => (OpCode)field.GetValue(null)!).ToDictionary(code => (ushort)code.Value, code => code.OperandType);

    private readonly PEReader _assembly;
    private readonly MetadataReaderProvider _symbolsProvider;
    private readonly MetadataReader _code;
    private readonly MetadataReader _symbols;

    /// <param name="assembly">Belongs to this.</param>
    /// <param name="symbols">Belongs to this.</param>
    public CompiledCode(Stream assembly, Stream symbols)
    {
        _assembly = new PEReader(assembly);
        _symbolsProvider = MetadataReaderProvider.FromPortablePdbStream(symbols);
        _code = _assembly.GetMetadataReader();
        _symbols = _symbolsProvider.GetMetadataReader();
    }

    public void Dispose()
    {
        _assembly.Dispose();
        _symbolsProvider.Dispose();
    }

    /// <summary>Types and methods, each with the paths of the files that declare it.</summary>
    public IEnumerable<(string Name, string[] Files)> ReadDeclarations() =>
        from handle in _code.TypeDefinitions
        let type = _code.GetTypeDefinition(handle)
        let name = NameOf(handle)
        let methods = (from method in type.GetMethods()
                       let file = FileOf(method)
                       where file is not null
                       select (Name: $"{name}::{TextOf(_code.GetMethodDefinition(method).Name)}", file)).ToArray()
        let files = methods.Select(method => method.file).Concat(FilesOf(handle)).Distinct().ToArray()
        from declared in methods.Select(method => (method.Name, (string[])[method.file])).Append((name, files))
        select declared;

    /// <summary>Constants and members of enumerations that other files can name, as "Type.Constant".</summary>
    public IEnumerable<(string Constant, string Type)> ReadConstants() =>
        from handle in _code.TypeDefinitions
        let type = _code.GetTypeDefinition(handle)
        from field in type.GetFields().Select(_code.GetFieldDefinition)
        where (field.Attributes & FieldAttributes.Literal) != 0
            && (field.Attributes & FieldAttributes.FieldAccessMask) != FieldAttributes.Private
        select ($"{TextOf(type.Name)}.{TextOf(field.Name)}", NameOf(handle));

    /// <summary>
    /// The names that declarations and code lead to. What is declared by the compiler alone, and what it infers, leads nowhere.
    /// </summary>
    /// <param name="homeOf">The file of a type.</param>
    public IEnumerable<(string File, string Name)> ReadUses(Func<string, string?> homeOf) =>
        from handle in _code.TypeDefinitions
        let home = homeOf(NameOf(handle))
        where home is not null
        let type = _code.GetTypeDefinition(handle)
        from use in UsesOf(type).Select(name => (home, name)).Concat(
            from method in type.GetMethods()
            let file = FileOf(method) ?? home
            from name in UsesOf(_code.GetMethodDefinition(method))
            select (file, name))
        select use;

    private IEnumerable<string> UsesOf(TypeDefinition type)
    {
        IEnumerable<EntityHandle> named =
        [
            type.BaseType, .. type.GetInterfaceImplementations().Select(one => _code.GetInterfaceImplementation(one).Interface),
            .. AttributesOf(type.GetCustomAttributes()),
            .. type.GetProperties().SelectMany(one => AttributesOf(_code.GetPropertyDefinition(one).GetCustomAttributes())),
        ];
        var found = new TypeNames();
        foreach (FieldDefinition field in type.GetFields().Select(_code.GetFieldDefinition).Where(field => !IsMadeByCompiler(field.Name)))
        {
            field.DecodeSignature(found, null);
            named = named.Concat(AttributesOf(field.GetCustomAttributes()));
        }

        return found.Names.Concat(named.SelectMany(NamesOf));
    }

    private IEnumerable<string> UsesOf(MethodDefinition method)
    {
        var found = new TypeNames();
        if (!IsMadeByCompiler(method.Name))
            method.DecodeSignature(found, null);
        IEnumerable<EntityHandle> named =
        [
            .. AttributesOf(method.GetCustomAttributes()),
            .. method.GetGenericParameters().SelectMany(one => _code.GetGenericParameter(one).GetConstraints())
                .Select(one => _code.GetGenericParameterConstraint(one).Type),
            .. method.RelativeVirtualAddress == 0 ? [] : TokensIn(_assembly.GetMethodBody(method.RelativeVirtualAddress)),
        ];
        return found.Names.Concat(named.SelectMany(NamesOf));
    }

    private IEnumerable<EntityHandle> AttributesOf(CustomAttributeHandleCollection attributes) =>
        attributes.Select(one => _code.GetCustomAttribute(one).Constructor);

    private static IEnumerable<EntityHandle> TokensIn(MethodBodyBlock body)
    {
        var tokens = new List<EntityHandle>(body.ExceptionRegions.Select(region => region.CatchType));
        BlobReader code = body.GetILReader();
        while (code.RemainingBytes > 0)
        {
            ushort operation = code.ReadByte();
            if (operation == 0xFE)
                operation = (ushort)((operation << 8) | code.ReadByte());
            switch (Operands[operation])
            {
                case OperandType.InlineNone:
                    break;
                case OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar:
                    code.Offset++;
                    break;
                case OperandType.InlineVar:
                    code.Offset += sizeof(short);
                    break;
                case OperandType.InlineI8 or OperandType.InlineR:
                    code.Offset += sizeof(long);
                    break;
                case OperandType.InlineSwitch:
                    int targets = code.ReadInt32();
                    code.Offset += sizeof(int) * targets;
                    break;
                case OperandType.InlineMethod or OperandType.InlineField or OperandType.InlineType or OperandType.InlineTok:
                    tokens.Add(MetadataTokens.EntityHandle(code.ReadInt32()));
                    break;
                default:
                    code.Offset += sizeof(int);
                    break;
            }
        }

        return tokens;
    }

    /// <summary>Of a member, its own name; of a type, that of each type in it.</summary>
    private IEnumerable<string> NamesOf(EntityHandle handle)
    {
        if (handle.IsNil)
            return [];
        switch (handle.Kind)
        {
            case HandleKind.TypeDefinition:
                return [NameOf((TypeDefinitionHandle)handle)];
            case HandleKind.TypeReference:
                return [TypeNames.Of(_code, (TypeReferenceHandle)handle)];
            case HandleKind.TypeSpecification:
                var types = new TypeNames();
                _code.GetTypeSpecification((TypeSpecificationHandle)handle).DecodeSignature(types, null);
                return types.Names;
            case HandleKind.MethodDefinition:
                MethodDefinition method = _code.GetMethodDefinition((MethodDefinitionHandle)handle);
                return [$"{NameOf(method.GetDeclaringType())}::{TextOf(method.Name)}"];
            case HandleKind.FieldDefinition:
                return [NameOf(_code.GetFieldDefinition((FieldDefinitionHandle)handle).GetDeclaringType())];
            case HandleKind.MemberReference:
                MemberReference member = _code.GetMemberReference((MemberReferenceHandle)handle);
                // Of a generic type its definition comes first; its arguments were not written here.
                return NamesOf(member.Parent).Take(1).Select(type => $"{type}::{TextOf(member.Name)}");
            case HandleKind.MethodSpecification:
                return NamesOf(_code.GetMethodSpecification((MethodSpecificationHandle)handle).Method);
            default:
                return [];
        }
    }

    private string? FileOf(MethodDefinitionHandle method)
    {
        MethodDebugInformation symbols = _symbols.GetMethodDebugInformation(method);
        DocumentHandle document = symbols.Document.IsNil
            ? symbols.GetSequencePoints().Select(point => point.Document).FirstOrDefault(one => !one.IsNil)
            : symbols.Document;
        return document.IsNil ? null : PathOf(document);
    }

    private IEnumerable<string> FilesOf(TypeDefinitionHandle type)
    {
        foreach (CustomDebugInformation one in _symbols.GetCustomDebugInformation(type).Select(_symbols.GetCustomDebugInformation))
        {
            if (_symbols.GetGuid(one.Kind) != TypeDefinitionDocuments)
                continue;
            BlobReader documents = _symbols.GetBlobReader(one.Value);
            while (documents.RemainingBytes > 0)
                yield return PathOf(MetadataTokens.DocumentHandle(documents.ReadCompressedInteger()));
        }
    }

    private string PathOf(DocumentHandle document) => _symbols.GetString(_symbols.GetDocument(document).Name);

    private string NameOf(TypeDefinitionHandle type) => TypeNames.Of(_code, type);

    private string TextOf(StringHandle text) => _code.GetString(text);

    private bool IsMadeByCompiler(StringHandle name) => TextOf(name).StartsWith('<');

    /// <summary>Collects the types of a signature.</summary>
    private sealed class TypeNames : ISignatureTypeProvider<int, object?>
    {
        public List<string> Names { get; } = [];

        public static string Of(MetadataReader code, TypeDefinitionHandle handle)
        {
            TypeDefinition type = code.GetTypeDefinition(handle);
            string name = code.GetString(type.Name);
            return type.GetDeclaringType() is { IsNil: false } outer
                ? $"{Of(code, outer)}/{name}"
                : $"{code.GetString(type.Namespace)}.{name}";
        }

        public static string Of(MetadataReader code, TypeReferenceHandle handle)
        {
            TypeReference type = code.GetTypeReference(handle);
            string name = code.GetString(type.Name);
            return type.ResolutionScope.Kind == HandleKind.TypeReference
                ? $"{Of(code, (TypeReferenceHandle)type.ResolutionScope)}/{name}"
                : $"{code.GetString(type.Namespace)}.{name}";
        }

        public int GetTypeFromDefinition(MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind) => Add(Of(reader, handle));

        public int GetTypeFromReference(MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) => Add(Of(reader, handle));

        public int GetTypeFromSpecification(
            MetadataReader reader, object? genericContext, TypeSpecificationHandle handle, byte rawTypeKind) =>
            reader.GetTypeSpecification(handle).DecodeSignature(this, genericContext);

        public int GetArrayType(int elementType, ArrayShape shape) => 0;

        public int GetByReferenceType(int elementType) => 0;

        public int GetFunctionPointerType(MethodSignature<int> signature) => 0;

        public int GetGenericInstantiation(int genericType, ImmutableArray<int> typeArguments) => 0;

        public int GetGenericMethodParameter(object? genericContext, int index) => 0;

        public int GetGenericTypeParameter(object? genericContext, int index) => 0;

        public int GetModifiedType(int modifier, int unmodifiedType, bool isRequired) => 0;

        public int GetPinnedType(int elementType) => 0;

        public int GetPointerType(int elementType) => 0;

        public int GetPrimitiveType(PrimitiveTypeCode typeCode) => 0;

        public int GetSZArrayType(int elementType) => 0;

        private int Add(string name)
        {
            Names.Add(name);
            return 0;
        }
    }
}
