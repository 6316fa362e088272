using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace MongoPerf.Mutation;

/// <summary>
/// Lists the changes that can be made to a file. What is evaluated once per process (constants, attributes, what static members begin as)
/// and texts of exceptions are left as they are.
/// </summary>
internal sealed class MutationFinder : CSharpSyntaxWalker
{
    private static readonly Dictionary<SyntaxKind, (SyntaxKind Token, string Name)[]> Binary = new()
    {
        [SyntaxKind.AddExpression] = [(SyntaxKind.MinusToken, "arithmetic")],
        [SyntaxKind.SubtractExpression] = [(SyntaxKind.PlusToken, "arithmetic")],
        [SyntaxKind.MultiplyExpression] = [(SyntaxKind.SlashToken, "arithmetic")],
        [SyntaxKind.DivideExpression] = [(SyntaxKind.AsteriskToken, "arithmetic")],
        [SyntaxKind.ModuloExpression] = [(SyntaxKind.AsteriskToken, "arithmetic")],
        [SyntaxKind.BitwiseAndExpression] = [(SyntaxKind.BarToken, "bitwise")],
        [SyntaxKind.BitwiseOrExpression] = [(SyntaxKind.AmpersandToken, "bitwise")],
        [SyntaxKind.ExclusiveOrExpression] = [(SyntaxKind.AmpersandToken, "bitwise")],
        [SyntaxKind.LeftShiftExpression] = [(SyntaxKind.GreaterThanGreaterThanToken, "bitwise")],
        [SyntaxKind.RightShiftExpression] = [(SyntaxKind.LessThanLessThanToken, "bitwise")],
        [SyntaxKind.UnsignedRightShiftExpression] = [(SyntaxKind.LessThanLessThanToken, "bitwise")],
        [SyntaxKind.LessThanExpression] = [(SyntaxKind.LessThanEqualsToken, "boundary"), (SyntaxKind.GreaterThanEqualsToken, "relational")],
        [SyntaxKind.LessThanOrEqualExpression] = [(SyntaxKind.LessThanToken, "boundary"), (SyntaxKind.GreaterThanToken, "relational")],
        [SyntaxKind.GreaterThanExpression] =
            [(SyntaxKind.GreaterThanEqualsToken, "boundary"), (SyntaxKind.LessThanEqualsToken, "relational")],
        [SyntaxKind.GreaterThanOrEqualExpression] = [(SyntaxKind.GreaterThanToken, "boundary"), (SyntaxKind.LessThanToken, "relational")],
        [SyntaxKind.EqualsExpression] = [(SyntaxKind.ExclamationEqualsToken, "equality")],
        [SyntaxKind.NotEqualsExpression] = [(SyntaxKind.EqualsEqualsToken, "equality")],
        [SyntaxKind.LogicalAndExpression] = [(SyntaxKind.BarBarToken, "logical")],
        [SyntaxKind.LogicalOrExpression] = [(SyntaxKind.AmpersandAmpersandToken, "logical")],
    };

    private static readonly Dictionary<SyntaxKind, SyntaxKind> Compound = new()
    {
        [SyntaxKind.PlusEqualsToken] = SyntaxKind.MinusEqualsToken,
        [SyntaxKind.MinusEqualsToken] = SyntaxKind.PlusEqualsToken,
        [SyntaxKind.AsteriskEqualsToken] = SyntaxKind.SlashEqualsToken,
        [SyntaxKind.SlashEqualsToken] = SyntaxKind.AsteriskEqualsToken,
        [SyntaxKind.AmpersandEqualsToken] = SyntaxKind.BarEqualsToken,
        [SyntaxKind.BarEqualsToken] = SyntaxKind.AmpersandEqualsToken,
        [SyntaxKind.CaretEqualsToken] = SyntaxKind.BarEqualsToken,
        [SyntaxKind.LessThanLessThanEqualsToken] = SyntaxKind.GreaterThanGreaterThanEqualsToken,
        [SyntaxKind.GreaterThanGreaterThanEqualsToken] = SyntaxKind.LessThanLessThanEqualsToken,
        [SyntaxKind.QuestionQuestionEqualsToken] = SyntaxKind.EqualsToken,
    };

    private static readonly Dictionary<SyntaxKind, SyntaxKind[]> PatternSigns = new()
    {
        [SyntaxKind.LessThanToken] = [SyntaxKind.LessThanEqualsToken, SyntaxKind.GreaterThanEqualsToken],
        [SyntaxKind.LessThanEqualsToken] = [SyntaxKind.LessThanToken, SyntaxKind.GreaterThanToken],
        [SyntaxKind.GreaterThanToken] = [SyntaxKind.GreaterThanEqualsToken, SyntaxKind.LessThanEqualsToken],
        [SyntaxKind.GreaterThanEqualsToken] = [SyntaxKind.GreaterThanToken, SyntaxKind.LessThanToken],
    };

    private static readonly Dictionary<string, string> Methods = new[]
    {
        ("Min", "Max"), ("First", "Last"), ("FirstOrDefault", "LastOrDefault"), ("Any", "All"), ("OrderBy", "OrderByDescending"),
        ("MinBy", "MaxBy"), ("ThenBy", "ThenByDescending"), ("Skip", "Take"), ("SkipWhile", "TakeWhile"), ("Ceiling", "Floor"),
        ("StartsWith", "EndsWith"), ("TrimStart", "TrimEnd"), ("ToUpperInvariant", "ToLowerInvariant"), ("IndexOf", "LastIndexOf"),
        ("Append", "Prepend"),
        ("Intersect", "Except"), ("Increment", "Decrement"),
    }.SelectMany(p => new[] { (From: p.Item1, To: p.Item2), (From: p.Item2, To: p.Item1) })
        .Concat(
        [
            ("Single", "First"), ("SingleOrDefault", "FirstOrDefault"), ("Sum", "Max"), ("Average", "Min"), ("Round", "Floor"),
            ("Union", "Intersect"),
        ])
        .ToDictionary(p => p.Item1, p => p.Item2);

    /// <summary>Calls that are left out of a chain.</summary>
    private static readonly HashSet<string> Steps =
        ["Where", "Distinct", "Reverse", "OrderBy", "OrderByDescending", "Order", "Trim", "Abs", "Concat", "DefaultIfEmpty", "DistinctBy"];

    private static readonly SymbolDisplayFormat TypeFormat = SymbolDisplayFormat.FullyQualifiedFormat
        .AddMiscellaneousOptions(SymbolDisplayMiscellaneousOptions.IncludeNullableReferenceTypeModifier);

    private readonly string _file;
    private readonly SemanticModel _model;
    private readonly Microsoft.CodeAnalysis.Text.SourceText _source;
    private readonly List<Mutation> _found = [];

    private MutationFinder(string file, SemanticModel model)
    {
        _file = file;
        _model = model;
        _source = model.SyntaxTree.GetText();
    }

    /// <summary>The changes that can be made to a file, in its order.</summary>
    public static List<Mutation> Find(string file, SemanticModel model)
    {
        MutationFinder finder = new(file, model);
        finder.Visit(model.SyntaxTree.GetRoot());
        return [.. finder._found.DistinctBy(m => (m.Start, m.End, m.Text, m.Placing)).OrderBy(m => m.Start).ThenBy(m => m.End)];
    }

    public override void VisitAttributeList(AttributeListSyntax node) { }

    public override void VisitEnumDeclaration(EnumDeclarationSyntax node) { }

    public override void VisitCaseSwitchLabel(CaseSwitchLabelSyntax node) { }

    public override void VisitCasePatternSwitchLabel(CasePatternSwitchLabelSyntax node)
    {
        if (node.WhenClause is not { } when) return;
        Condition(when.Condition);
        Visit(when);
    }

    public override void VisitParameter(ParameterSyntax node) { }

    public override void VisitGotoStatement(GotoStatementSyntax node) { }

    public override void VisitFieldDeclaration(FieldDeclarationSyntax node)
    {
        if (!node.Modifiers.Any(SyntaxKind.ConstKeyword) && !node.Modifiers.Any(SyntaxKind.StaticKeyword)) base.VisitFieldDeclaration(node);
    }

    public override void VisitConstructorDeclaration(ConstructorDeclarationSyntax node)
    {
        if (!node.Modifiers.Any(SyntaxKind.StaticKeyword)) base.VisitConstructorDeclaration(node);
    }

    public override void VisitLocalDeclarationStatement(LocalDeclarationStatementSyntax node)
    {
        if (!node.IsConst) base.VisitLocalDeclarationStatement(node);
    }

    public override void VisitPropertyDeclaration(PropertyDeclarationSyntax node)
    {
        if (node.Initializer is not null && node.Modifiers.Any(SyntaxKind.StaticKeyword)) return;
        if (node.ExpressionBody is { } body) ReturnsNothing(body.Expression);
        base.VisitPropertyDeclaration(node);
    }

    public override void VisitAccessorDeclaration(AccessorDeclarationSyntax node)
    {
        if (node.IsKind(SyntaxKind.GetAccessorDeclaration) && _model.GetDeclaredSymbol(node) is IMethodSymbol method)
        {
            Body(node.Body, node.ExpressionBody, method);
        }
        base.VisitAccessorDeclaration(node);
    }

    public override void VisitMethodDeclaration(MethodDeclarationSyntax node)
    {
        if (_model.GetDeclaredSymbol(node) is IMethodSymbol method) Body(node.Body, node.ExpressionBody, method);
        base.VisitMethodDeclaration(node);
    }

    public override void VisitLocalFunctionStatement(LocalFunctionStatementSyntax node)
    {
        if (_model.GetDeclaredSymbol(node) is IMethodSymbol method) Body(node.Body, node.ExpressionBody, method);
        base.VisitLocalFunctionStatement(node);
    }

    public override void VisitInvocationExpression(InvocationExpressionSyntax node)
    {
        string name = NameOf(node.Expression);
        if (name is "nameof" || node.Expression.ToString().StartsWith("Debug.", StringComparison.Ordinal)) return;
        if (node.Expression is MemberAccessExpressionSyntax access)
        {
            if (Methods.TryGetValue(name, out string? other))
            {
                Expression(node, "method", With(node, access.Name.Identifier, other), node);
            }
            if (Steps.Contains(name) && _model.GetSymbolInfo(node).Symbol is IMethodSymbol called)
            {
                bool isPlain = called.IsStatic && called.ReducedFrom is null;
                if (!isPlain) Expression(node, "call left out", access.Expression.ToString(), node);
                else if (node.ArgumentList.Arguments is [var first, ..]) Expression(node, "call left out", first.ToString(), node);
            }
        }
        base.VisitInvocationExpression(node);
    }

    public override void VisitBinaryExpression(BinaryExpressionSyntax node)
    {
        if (Binary.TryGetValue(node.Kind(), out var tokens) && !IsText(node))
        {
            foreach ((SyntaxKind token, string name) in tokens)
            {
                Expression(node, name, With(node, node.OperatorToken, SyntaxFacts.GetText(token)), node);
            }
        }
        else if (node.IsKind(SyntaxKind.CoalesceExpression))
        {
            Expression(node, "coalescing", node.Right is ThrowExpressionSyntax ? $"({node.Left})!" : node.Right.ToString(), node);
        }
        base.VisitBinaryExpression(node);
    }

    public override void VisitIsPatternExpression(IsPatternExpressionSyntax node)
    {
        bool isEquality = node.Pattern is UnaryPatternSyntax { Pattern: ConstantPatternSyntax } or ConstantPatternSyntax;
        Negate(node, isEquality ? "equality" : "pattern");
        InPatterns(node, node.Pattern);
        base.Visit(node.Expression);
    }

    public override void VisitSwitchExpression(SwitchExpressionSyntax node)
    {
        Visit(node.GoverningExpression);
        foreach (SwitchExpressionArmSyntax arm in node.Arms)
        {
            InPatterns(node, arm.Pattern);
            if (arm.WhenClause is { } when)
            {
                Condition(when.Condition);
                Visit(when);
            }
            Visit(arm.Expression);
        }
    }

    public override void VisitConditionalExpression(ConditionalExpressionSyntax node)
    {
        Condition(node.Condition);
        base.VisitConditionalExpression(node);
    }

    public override void VisitIfStatement(IfStatementSyntax node)
    {
        Condition(node.Condition);
        if (node.Statement is BlockSyntax { Statements.Count: > 1 } block) Removed(block, "block");
        if (node.Else?.Statement is BlockSyntax { Statements.Count: > 1 } other) Removed(other, "block");
        base.VisitIfStatement(node);
    }

    public override void VisitWhileStatement(WhileStatementSyntax node)
    {
        Condition(node.Condition);
        base.VisitWhileStatement(node);
    }

    public override void VisitForStatement(ForStatementSyntax node)
    {
        if (node.Declaration is { } declaration) Visit(declaration);
        if (node.Condition is { } condition) Visit(condition);
        Visit(node.Statement);
    }

    public override void VisitExpressionStatement(ExpressionStatementSyntax node)
    {
        if (node.Expression.ToString().StartsWith("Debug.", StringComparison.Ordinal)) return;
        Removed(node, node.Expression switch
        {
            AssignmentExpressionSyntax => "assignment",
            PrefixUnaryExpressionSyntax or PostfixUnaryExpressionSyntax => "increment",
            _ => "call",
        });
        if (node.Expression is AssignmentExpressionSyntax assignment
            && Compound.TryGetValue(assignment.OperatorToken.Kind(), out SyntaxKind other) && !IsText(assignment))
        {
            Statement(node, "compound assignment", With(node, assignment.OperatorToken, SyntaxFacts.GetText(other)));
        }
        (SyntaxToken Sign, string Opposite)? step = node.Expression switch
        {
            PostfixUnaryExpressionSyntax p when Opposite(p.OperatorToken) is { } o => (p.OperatorToken, o),
            PrefixUnaryExpressionSyntax p when Opposite(p.OperatorToken) is { } o => (p.OperatorToken, o),
            _ => null,
        };
        if (step is { } found)
        {
            Statement(node, "increment", With(node, found.Sign, found.Opposite));
            return;
        }
        base.VisitExpressionStatement(node);
    }

    public override void VisitReturnStatement(ReturnStatementSyntax node)
    {
        if (node.Expression is null) Removed(node, "return");
        base.VisitReturnStatement(node);
    }

    public override void VisitThrowStatement(ThrowStatementSyntax node)
    {
        if (InCondition(node)) Removed(node, "throw");
        base.VisitThrowStatement(node);
    }

    public override void VisitContinueStatement(ContinueStatementSyntax node)
    {
        if (InCondition(node)) Removed(node, "continue");
    }

    public override void VisitBreakStatement(BreakStatementSyntax node)
    {
        if (InCondition(node)) Removed(node, "break");
    }

    public override void VisitPostfixUnaryExpression(PostfixUnaryExpressionSyntax node)
    {
        if (Opposite(node.OperatorToken) is { } opposite) Expression(node, "increment", With(node, node.OperatorToken, opposite), node);
        base.VisitPostfixUnaryExpression(node);
    }

    public override void VisitPrefixUnaryExpression(PrefixUnaryExpressionSyntax node)
    {
        switch (node.Kind())
        {
            case SyntaxKind.LogicalNotExpression:
                Negate(node, "negation");
                break;
            case SyntaxKind.UnaryMinusExpression or SyntaxKind.BitwiseNotExpression:
                Expression(node, "unary", node.Operand.ToString(), node);
                break;
            default:
                if (Opposite(node.OperatorToken) is { } other) Expression(node, "increment", With(node, node.OperatorToken, other), node);
                break;
        }
        base.VisitPrefixUnaryExpression(node);
    }

    public override void VisitInterpolatedStringExpression(InterpolatedStringExpressionSyntax node)
    {
        SpecialType? type = _model.GetTypeInfo(node).ConvertedType?.SpecialType;
        if (type is SpecialType.System_String or SpecialType.System_Object && !ForPeople(node))
        {
            Expression(node, "string", "\"\"", node);
        }
        base.VisitInterpolatedStringExpression(node);
    }

    public override void VisitInterpolationAlignmentClause(InterpolationAlignmentClauseSyntax node) { }

    public override void VisitLiteralExpression(LiteralExpressionSyntax node)
    {
        switch (node.Kind())
        {
            case SyntaxKind.TrueLiteralExpression:
                Expression(node, "boolean", "false", node);
                break;
            case SyntaxKind.FalseLiteralExpression:
                Expression(node, "boolean", "true", node);
                break;
            case SyntaxKind.StringLiteralExpression when !ForPeople(node):
                Expression(node, "string", node.Token.ValueText.Length == 0 ? "\"mutant\"" : "\"\"", node);
                break;
            case SyntaxKind.Utf8StringLiteralExpression:
                Expression(node, "string", node.Token.ValueText.Length == 0 ? "\"mutant\"u8" : "\"\"u8", node);
                break;
            case SyntaxKind.NumericLiteralExpression:
                Expression(node, "constant", $"{node} + 1", node);
                break;
        }
    }

    private static string? Opposite(SyntaxToken token) => token.Kind() switch
    {
        SyntaxKind.PlusPlusToken => "--",
        SyntaxKind.MinusMinusToken => "++",
        _ => null,
    };

    private static string NameOf(ExpressionSyntax called) => called switch
    {
        MemberAccessExpressionSyntax access => access.Name.Identifier.Text,
        SimpleNameSyntax name => name.Identifier.Text,
        _ => "",
    };

    /// <summary>Whether a text is what an exception says.</summary>
    private bool ForPeople(SyntaxNode node) =>
        node.Ancestors().TakeWhile(a => a is not (StatementSyntax or MemberDeclarationSyntax or LambdaExpressionSyntax)).Any(a =>
            a is ThrowExpressionSyntax
            || a is BaseObjectCreationExpressionSyntax
            && _model.GetTypeInfo(a).Type?.Name.EndsWith("Exception", StringComparison.Ordinal) == true)
        || node.FirstAncestorOrSelf<StatementSyntax>() is ThrowStatementSyntax;

    private static bool InCondition(StatementSyntax node) =>
        node.Parent is IfStatementSyntax or ElseClauseSyntax
            or BlockSyntax { Statements.Count: 1, Parent: IfStatementSyntax or ElseClauseSyntax };

    private static string With(SyntaxNode node, SyntaxToken token, string other)
    {
        string text = node.ToString();
        int at = token.SpanStart - node.SpanStart;
        return string.Concat(text.AsSpan(0, at), other, text.AsSpan(at + token.Span.Length));
    }

    private bool IsText(ExpressionSyntax node) => node.Kind() is SyntaxKind.AddExpression or SyntaxKind.AddAssignmentExpression
        && _model.GetTypeInfo(node).Type?.SpecialType == SpecialType.System_String;

    private void InPatterns(ExpressionSyntax host, PatternSyntax pattern)
    {
        foreach (SyntaxNode part in pattern.DescendantNodesAndSelf())
        {
            if (part is RelationalPatternSyntax relational)
            {
                foreach (SyntaxKind sign in PatternSigns[relational.OperatorToken.Kind()])
                {
                    string text = SyntaxFacts.GetText(sign);
                    SyntaxToken token = relational.OperatorToken;
                    Expression(host, "pattern", With(host, token, text), relational, With(relational, token, text));
                }
            }
            else if (part is BinaryPatternSyntax { OperatorToken: var word } both)
            {
                string other = word.IsKind(SyntaxKind.OrKeyword) ? "and" : "or";
                Expression(host, "pattern", With(host, word, other), both, With(both, word, other));
            }
            else if (part is LiteralExpressionSyntax { Token: var number } literal && literal.IsKind(SyntaxKind.NumericLiteralExpression))
            {
                Expression(host, "constant", With(host, number, $"({number} + 1)"), literal, $"{number} + 1");
            }
        }
    }

    private void Condition(ExpressionSyntax condition)
    {
        if (condition is InvocationExpressionSyntax or IdentifierNameSyntax or MemberAccessExpressionSyntax
            or ElementAccessExpressionSyntax or AwaitExpressionSyntax)
        {
            Negate(condition, "negation");
        }
        else if (condition is BinaryExpressionSyntax both
            && both.OperatorToken.Kind() is SyntaxKind.AmpersandAmpersandToken or SyntaxKind.BarBarToken)
        {
            Condition(both.Left);
            Condition(both.Right);
        }
    }

    private void Body(BlockSyntax? block, ArrowExpressionClauseSyntax? arrow, IMethodSymbol method)
    {
        bool nothing = method.ReturnsVoid
            || method.IsAsync && method.ReturnType is INamedTypeSymbol { TypeArguments.Length: 0 };
        bool isSimple = block is null
            or { Statements: [] or [ReturnStatementSyntax { Expression: LiteralExpressionSyntax } or ThrowStatementSyntax] }
            || nothing && block is { Statements: [ExpressionStatementSyntax] };
        if (!isSimple)
        {
            bool yields = block!.DescendantNodes(n => n is not (LocalFunctionStatementSyntax or LambdaExpressionSyntax))
                .OfType<YieldStatementSyntax>().Any();
            string text = yields ? "yield break;" : nothing ? "return;" : "return default!;";
            int line = method.Locations[0].GetLineSpan().StartLinePosition.Line;
            Add(block, Placing.BlockStart, text, null, "body", block, "{ … }", $"{{ {text} }}", line);
        }
        else if (arrow is not null && nothing)
        {
            Add(arrow, Placing.VoidBody, "", null, "body", arrow, arrow.ToString(), "{ }");
        }
        else if (arrow is not null)
        {
            ReturnsNothing(arrow.Expression);
        }
    }

    private void ReturnsNothing(ExpressionSyntax result)
    {
        if (result is LiteralExpressionSyntax or ThrowExpressionSyntax or RefExpressionSyntax or IdentifierNameSyntax) return;
        Expression(result, "body", "default!", result);
    }

    private void Removed(StatementSyntax node, string name) =>
        Add(node, Placing.Statement, "", null, name, node, node.ToString(), "removed");

    private void Statement(StatementSyntax node, string name, string text) =>
        Add(node, Placing.Statement, text, null, name, node, node.ToString(), text);

    private void Negate(ExpressionSyntax node, string name) =>
        Add(node, Placing.Negation, "", null, name, node, node.ToString(), $"not ({node})");

    private void Expression(ExpressionSyntax host, string name, string text, SyntaxNode shown, string? mutated = null)
    {
        Microsoft.CodeAnalysis.TypeInfo info = _model.GetTypeInfo(host);
        ITypeSymbol? converted = info.ConvertedType ?? info.Type;
        bool same = info.Type is not null && SymbolEqualityComparer.Default.Equals(info.Type, info.ConvertedType) && text != "default!";
        bool isPlain = same
            || converted is null or IErrorTypeSymbol or { IsAnonymousType: true } or { SpecialType: SpecialType.System_Void };
        string? type = isPlain ? null : converted!.ToDisplayString(TypeFormat);
        Add(host, Placing.Expression, text, type, name, shown, shown.ToString(), mutated ?? text);
    }

    private void Add(
        SyntaxNode host, Placing placing, string text, string? type, string name, SyntaxNode shown, string original, string mutated,
        int? line = null)
    {
        int number = line ?? shown.SyntaxTree.GetLineSpan(shown.Span).StartLinePosition.Line;
        // The semicolon after the expression of a member goes with it.
        int end = (placing == Placing.VoidBody ? host.Parent! : host).Span.End;
        string context = _source.Lines[number].ToString().Trim();
        _found.Add(new Mutation(
            _file, host.SpanStart, end, placing, text, type, name, number + 1, Short(original), Short(mutated), context));
    }

    private static string Short(string text)
    {
        string line = string.Join(' ', text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));
        return line.Length <= 160 ? line : string.Concat(line.AsSpan(0, 157), "...");
    }
}
